import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { runModule } from '../fixtures/child-process.ts';
import { ClientThread } from '../fixtures/client-thread.ts';
import { onThread, worlds } from '../fixtures/worlds.ts';

/** Where the loop stands still, see stalled-loop.mjs. */
const places = [
  'a native timer',
  'a timer of the scheduler',
  'an I/O callback',
  'an immediate',
  'a reaction after a native timer',
  'a reaction to sleep()',
  'a reaction after I/O',
  'a reaction after an immediate',
];

/** Those after which Node's own timers come before the next poll. */
const timersFirst = ['an I/O callback', 'an immediate'];

interface Way {
  /** Whether the timer is set before the stall, or in it. */
  isSetBefore: boolean;
  /** Whether the stall begins with a timer that is due at once. */
  isAsked: boolean;
}

const ways: readonly Way[] = [true, false].flatMap((isSetBefore) =>
  [true, false].map((isAsked) => ({ isSetBefore, isAsked })),
);
const plain: readonly Way[] = [{ isSetBefore: true, isAsked: false }];

/**
 * Stalls in each place, in each way, while the idle timer of a socket falls due, which the bytes in the kernel move.
 * Resolves with what has happened, in order.
 */
const idleTimers = (
  client: ClientThread,
  places: string[],
  ways: readonly Way[],
): Promise<Record<string, string[][]>> =>
  client.run(
    ({ scheduler, withStalls }, places, ways) =>
      withStalls(async (loop) => {
        const logOf = async (place: string, { isSetBefore, isAsked }: Way): Promise<string[]> => {
          const log: string[] = [];
          let id = 0;
          let isInTime = false;
          const set = () => {
            id = scheduler.scheduleAfter(0, 20, () => log.push('cut'));
          };
          loop.onData = () => {
            log.push('data');
            if (scheduler.rescheduleAfter(id, 3_600_000)) log.push('moved');
          };
          if (isSetBefore) set();
          await loop.stall(place, () => {
            if (!isSetBefore) set();
            if (isAsked) scheduler.scheduleAfter(0, 0, () => undefined);
            isInTime = scheduler.now() < (scheduler.deadlineOf(id) ?? 0);
          });
          await loop.settle();
          scheduler.cancel(id);
          // the machine was too busy: it had been due before
          return isInTime ? log : logOf(place, { isSetBefore, isAsked });
        };
        const logs: Record<string, string[][]> = {};
        for (const place of places) {
          logs[place] = [];
          for (const way of ways) logs[place].push(await logOf(place, way));
        }
        return logs;
      }),
    places,
    ways,
  );

/** The same log for all of them. */
const each = (places: string[], ways: readonly Way[], log: string[]): Record<string, string[][]> =>
  Object.fromEntries(places.map((place) => [place, ways.map(() => log)]));

const dataFirst = ['data', 'moved'];
const timerFirst = ['cut', 'data'];

describe.each(worlds)('guarantee 16, I/O before late timers: $name', (world) => {
  test('what came in while the loop stood still moves the idle timer, wherever it did', async () => {
    const logs = await onThread(world, (client) => idleTimers(client, places, ways));
    expect(logs).toEqual(each(places, ways, dataFirst));
  });
});

describe('guarantee 16, the lateness from which I/O comes first', () => {
  test.each([
    [0, dataFirst],
    [20, dataFirst],
    [10_000, timerFirst],
    [Number.POSITIVE_INFINITY, timerFirst],
  ])('is the option ioFirst, in ms: %f', async (ioFirst, log) => {
    await using client = ClientThread.own({ shards: 0, ioFirst });
    expect(await idleTimers(client, timersFirst, plain)).toEqual(each(timersFirst, plain, log));
  });

  test.each([
    [Number.POSITIVE_INFINITY, undefined, timerFirst],
    [Number.POSITIVE_INFINITY, 8, dataFirst],
    [8, Number.POSITIVE_INFINITY, timerFirst],
  ])('of a connected scheduler is the owner’s, or its own: %f, %f', async (ioFirst, own, log) => {
    await using owner = createScheduler({ shards: 0, ioFirst });
    await using client = ClientThread.connect(owner.share(), { ioFirst: own });
    expect(await idleTimers(client, timersFirst, plain)).toEqual(each(timersFirst, plain, log));
  });

  test.each([
    ['alone', false, false],
    ['alone, set in the stall', false, true],
    ['beside the scheduler’s', true, false],
    ['beside the scheduler’s, set in the stall', true, true],
  ])('does not concern drop-in timers, which keep Node’s order: %s', async (_, isBeside, isSetWithin) => {
    await using client = ClientThread.own({ shards: 0 });
    const logs = await client.run(
      ({ scheduler, timers, withStalls }, places, isBeside, isSetWithin) =>
        withStalls(async (loop) => {
          const { setTimeout } = timers();
          const logOf = async (place: string): Promise<string[]> => {
            const log: string[] = [];
            let isInTime = false;
            let deadline = 0;
            const set = () => {
              deadline = scheduler.now() + 20;
              if (isBeside) scheduler.schedule(0, deadline, () => log.push('of the scheduler'));
              setTimeout(() => log.push('drop-in'), 20);
            };
            loop.onData = () => void log.push('data');
            if (!isSetWithin) set();
            await loop.stall(place, () => {
              if (isSetWithin) set();
              isInTime = scheduler.now() < deadline;
            });
            await loop.settle();
            return isInTime ? log : logOf(place);
          };
          const logs: string[][] = [];
          for (const place of places) logs.push(await logOf(place));
          return logs;
        }),
      timersFirst,
      isBeside,
      isSetWithin,
    );
    const log = ['drop-in', 'data', ...(isBeside ? ['of the scheduler'] : [])];
    expect(logs).toEqual(timersFirst.map(() => log));
  });

  test('means nothing to a manual clock: deliveries come in the same iterations of the loop', async () => {
    const logWith = async (ioFirst: number): Promise<string[]> => {
      await using client = ClientThread.own({ shards: 0, clock: 'manual', ioFirst });
      return await client.run(({ scheduler, withStalls }) =>
        withStalls(async (loop) => {
          const log: string[] = [];
          let iterations = 0;
          let counting = setImmediate(function count() {
            iterations += 1;
            counting = setImmediate(count);
          });
          loop.onData = () => void log.push('data');
          for (const deadline of [5, 5, 900]) scheduler.schedule(0, deadline, () => log.push(`${iterations}`));
          let advanced: Promise<number> | undefined;
          await loop.stall('an I/O callback', () => {
            iterations = 0;
            advanced = scheduler.advanceTo(1000, { jump: true });
          });
          log.push(`${await advanced} in all`);
          await loop.settle();
          clearImmediate(counting);
          return log;
        }),
      );
    };
    // On a busy machine the native timer may bring a turn before the immediate does: on some try neither has been late.
    const logs = async () => {
      const other = await logWith(Number.POSITIVE_INFINITY);
      expect(other).toHaveLength(5);
      return [other, await logWith(0), await logWith(8)].map((log) => log.join());
    };
    await expect.poll(async () => new Set(await logs()).size, { timeout: 30_000 }).toBe(1);
  });
});

/** Writes a byte to a process's standard input, which is a socket, and then lets it go on. */
function writeAndLetGo({ stdin, stdio }: ChildProcess): void {
  stdin?.write('x', () => (stdio[3] as NodeJS.WritableStream).end('x'));
}

/** A program in which a timer falls due while it blocks the loop. */
const lateTimer = `
  const scheduler = createScheduler({ shards });
  scheduler.scheduleAfter('a', 5, () => console.log('it came'));
  const end = performance.now() + 50;
  while (performance.now() < end);`;

describe.each([0, 1])('guarantee 16, before the first turn: shards %i', (shards) => {
  test('what came in while the main script ran moves the idle timer', async () => {
    const text = `
      const { createScheduler } = require('./lib/index.cjs');
      const scheduler = createScheduler({ shards: ${shards} });
      const log = [];
      const id = scheduler.scheduleAfter('a', 5, () => log.push('cut'));
      process.stdin.on('data', () => {
        log.push('data');
        if (scheduler.rescheduleAfter(id, 3_600_000)) log.push('moved');
        process.stdin.destroy();
        setImmediate(() => {
          console.log(log.join());
          void scheduler.close();
        });
      });
      require('node:fs').readSync(3, Buffer.alloc(1)); // until the byte has been written
      const end = performance.now() + 50;
      while (performance.now() < end);`;
    const child = spawn(process.execPath, ['--input-type=commonjs', '--eval', text], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    });
    let printed = '';
    child.stdout?.on('data', (data) => {
      printed += data;
    });
    writeAndLetGo(child);
    const [code] = await once(child, 'close');
    expect([code, printed]).toEqual([0, `${dataFirst.join()}\n`]);
  });

  test('a late timer comes before the process ends', async () => {
    expect(await runModule(lateTimer, shards)).toEqual({ code: 0, stdout: 'it came\n', stderr: '' });
  });
});

test('guarantee 16: a late timer comes where immediates come no more, as on Node 20 and 22', async () => {
  const text = `clearImmediate(setTimeout(() => undefined, 1)); ${lateTimer}`;
  expect(await runModule(text, 0)).toEqual({ code: 0, stdout: 'it came\n', stderr: '' });
});
