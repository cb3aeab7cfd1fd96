import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { asPart, commandFile } from '../../tools/replay/command-file.ts';
import { EventLoops } from '../../tools/replay/event-loops.ts';
import type { LoopCalls } from '../../tools/replay/loop-replay.ts';
import { parseOptions } from '../../tools/replay/options.ts';

// Threads load built JavaScript only.
const start = () => new Worker(commandFile, { argv: asPart('loop-thread', '') });
const options = parseOptions(['--threads', '2', '--cps', '10', '--seconds', '1'])!;

test('a call that fails on one thread fails for all', async () => {
  const loops = new EventLoops<LoopCalls>(start, 2);
  await loops.all((loop, index) => loop.layOut({ name: 'driver', options, index }));
  const calling = loops.all<unknown>((loop, index) => (index === 0 ? loop.prepare() : loop.finish()));
  await expect(calling).rejects.toMatchObject({ name: 'TypeError', message: expect.stringContaining('undefined') });
  await loops.terminate();
});

test('a thread that ends is not waited for', async () => {
  const loops = new EventLoops<LoopCalls>(start, 2);
  const waiting = loops.all(() => new Promise<void>(() => undefined));
  const refused = expect(waiting).rejects.toThrow(/event loop \d has ended/);
  await loops.terminate();
  await refused;
});

test('threads that are told to leave end by themselves, one after the other', async () => {
  const loops = new EventLoops<LoopCalls>(start, 3);
  await loops.all((loop, index) => loop.layOut({ name: 'driver', options, index }));
  loops.leave();
  // Whoever waits for an answer now hears that there is nobody to give it.
  await expect(loops.all(() => new Promise<void>(() => undefined))).rejects.toThrow(/has ended, exit code 0/);
});
