// Entry of the process whose cost is measured, with the profile and without: `argv[2]` names the program, `argv[3]` its share of
// the full size. Answers with one message: µs of CPU of this process per operation.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import { wholePrograms } from '../loading/whole-programs.ts';
import { programs } from '../programs/programs.ts';
import { xorshift } from '../xorshift.ts';

const [, , name, share = '1'] = process.argv;
const part = Number(share);
/** µs of CPU that a run takes at least: in less, what the profile does for its first call sites is most of the difference. */
const LEAST_CPU = 8e6;

interface Load {
  work(): Promise<number>;
  stop(): Promise<void>;
}

/** Nothing but timers: each turn sets 500 and clears those of the turns before, refreshes 500 more, and some fire. */
function timersOnly(): Load {
  let state = 1;
  const below = (limit: number): number => {
    state = xorshift(state);
    return (state >>> 0) % limit;
  };
  const kept = Array.from({ length: 20_000 }, () => setTimeout(() => undefined, 30_000));
  let fired = 0;
  const turn = (): number => {
    for (let i = 0; i < 500; i++) {
      const at = below(kept.length);
      clearTimeout(kept[at]);
      kept[at] = setTimeout(() => undefined, 30_000 + (at % 8) * 1000);
      kept[below(kept.length)].refresh();
    }
    for (let i = 0; i < 50; i++) setTimeout(() => (fired += 1), 1 + (i % 5));
    return 500 * 3 + 50 * 2;
  };
  const work = async () => {
    let operations = 0;
    for (let turns = 0; turns < 600 * part; turns++) {
      operations += turn();
      await nextTurn();
    }
    return operations;
  };
  return { work, stop: async () => kept.forEach((timer) => void clearTimeout(timer)) };
}

/** A server of node:http whose requests have a deadline each and an upstream that takes 2 ms; the parent sends them. */
async function httpServer(): Promise<Load> {
  let served = 0;
  const server = createServer((_request, response) => {
    const deadline = setTimeout(() => response.destroy(), 30_000);
    setTimeout(() => {
      clearTimeout(deadline);
      served += 1;
      response.end('{"answer":42}');
    }, 2);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const work = async () => {
    const before = served;
    process.send?.({ port });
    await new Promise((resolve) => process.once('message', resolve));
    return served - before;
  };
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
  };
  return { work, stop };
}

async function started(): Promise<Load> {
  if (name === 'timers') return timersOnly();
  if (name === 'http') return httpServer();
  if (Object.hasOwn(wholePrograms, name)) return wholePrograms[name](part);
  const program = programs.find((each) => each.name === name);
  if (program === undefined) throw new Error(`no program is named ${name}`);
  const running = await program.start(part, program.subjects[0], undefined);
  const waits = new LatenessHistogram();
  return { work: () => running.work(waits), stop: () => running.stop() };
}

process.once('disconnect', () => process.exit()); // whoever measures is gone, or has what it wants
const load = await started();
await load.work(); // compiled, connected
const before = process.cpuUsage();
let operations = 0;
let cpu = 0;
while (cpu < LEAST_CPU) {
  operations += await load.work();
  const { user, system } = process.cpuUsage(before);
  cpu = user + system;
}
process.send?.({ operations, cpu });
await load.stop();
await sleep(0);
process.disconnect?.();
