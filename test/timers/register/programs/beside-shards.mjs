// A scheduler whose shards' threads are made to register; a preload after that one tells who has their timers.
import { createScheduler } from 'shardwheel';

const entry = import.meta.resolve('shardwheel/register');
const teller = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  const isRegistered = Symbol.for('shardwheel.registration') in globalThis;
  if (!isMainThread) writeSync(1, (isRegistered ? 'face' : 'node') + ' ' + setTimeout.length + '\\n');`)}`;
const preloads = ['--import', entry, '--import', teller];
const ways = {
  execArgv: { thread: { execArgv: preloads } },
  env: { thread: { env: { NODE_OPTIONS: preloads.map((word) => `"${word}"`).join(' ') } } },
};
const scheduler = createScheduler({ shards: 1, ...ways[process.argv[2]] });
await scheduler.ready;
await new Promise((resolve) => scheduler.scheduleAfter(0, 5, resolve));
await scheduler.close();
process.stdout.write(`main ${Symbol.for('shardwheel.registration') in globalThis ? 'face' : 'node'}\n`);
