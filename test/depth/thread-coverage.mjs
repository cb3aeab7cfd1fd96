// A shard's thread loads it before its own code, by `--import`. A turn of the thread runs from the end of one wait to
// the beginning of the next; what has run in it is told to the channel then. The wait is shortened by the time that
// this takes.
import { BroadcastChannel } from 'node:worker_threads';
import { FunctionCoverage } from './function-coverage.mjs';

const { SHARDWHEEL_COVERED: folder, SHARDWHEEL_CHANNEL: name } = process.env;
const { wait } = Atomics;
const coverage = new FunctionCoverage(folder);
const channel = new BroadcastChannel(name);
let begun = process.hrtime.bigint(); // the same clock in each thread

Atomics.wait = (words, index, value, timeout) => {
  const asked = performance.now();
  channel.postMessage({ begun, ran: coverage.take() });
  const answer = wait(words, index, value, Math.max(0, timeout - (performance.now() - asked)));
  begun = process.hrtime.bigint();
  return answer;
};
