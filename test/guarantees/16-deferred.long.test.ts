import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { onThread, worlds } from '../fixtures/worlds.ts';

/** Ways to end timers, which answer what they have ended. */
const ends = ['cancel', 'cancelMany', 'cancelAll', 'rescheduleAfter', 'close'];

describe.each(worlds)('guarantee 16, timers that wait for I/O: $name', (world) => {
  test(`come once each, in order, with callbacks and in batches, late and not late, seed ${SEED}`, async () => {
    const draws = new Draws(SEED);
    // Of 300 timers of a shard most fall due in the stall of 50 ms: some much before its end, some just before, some
    // after.
    const delays = [0, ...Array.from({ length: 299 }, () => draws.between(0, 70))];
    const { log, dues } = await onThread(world, (client) =>
      client.run(
        ({ scheduler, withStalls }, delays) =>
          withStalls(async (loop) => {
            for (;;) {
              const log: (number | 'data')[] = [];
              const dues: number[] = [];
              const byId = new Map<number, number>();
              const note = (_: unknown, id: number) => log.push(byId.get(id) as number);
              const listener = ({ ids, length }: { ids: Float64Array; length: number }) => {
                for (const id of ids.subarray(0, length)) note(undefined, id);
              };
              scheduler.on('fired', listener);
              loop.onData = () => void log.push('data');
              let isInTime = false;
              await loop.stall('an immediate', () => {
                const start = scheduler.now() + 5;
                for (const [sequence, delay] of delays.entries()) {
                  const deadline = start + delay;
                  dues.push(Math.ceil(deadline));
                  byId.set(scheduler.schedule(0, deadline, sequence % 3 === 2 ? undefined : note), sequence);
                }
                isInTime = scheduler.now() < start;
              });
              await loop.settle();
              while (scheduler.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
              await loop.settle();
              scheduler.off('fired', listener);
              if (isInTime) return { log, dues }; // else some were overdue when they were set
            }
          }),
        delays,
      ),
    );
    const expected = dues.map((_, sequence) => sequence).sort((one, other) => dues[one] - dues[other] || one - other);
    expect(log).toEqual(['data', ...expected]);
  });

  test.each(ends)('are ended for good by %s', async (way) => {
    const ended = await onThread(world, (client) =>
      client.run(
        ({ scheduler, withStalls }, way) =>
          withStalls(async (loop) => {
            const log: unknown[] = [];
            let ids: number[] = [];
            const group = scheduler.group(0);
            scheduler.on('fired', () => log.push('a batch'));
            const closed: Promise<void>[] = [];
            const ways: Record<string, () => number | undefined> = {
              cancel: () => ids.filter((id) => scheduler.cancel(id)).length,
              cancelMany: () => scheduler.cancelMany(ids),
              cancelAll: () => group.cancelAll(),
              rescheduleAfter: () => ids.filter((id) => scheduler.rescheduleAfter(id, 3_600_000)).length,
              close: () => {
                const unfired = scheduler.close();
                closed.push(unfired.then((timers) => void log.push(timers.map(({ argument }) => argument))));
                return undefined;
              },
            };
            loop.onData = () => void log.push('data', ways[way]());
            await loop.stall('an immediate', () => {
              const callbacks = [() => log.push('a callback'), undefined];
              ids = [0, 1, 2, 3, 4, 5].map((i) => scheduler.scheduleAfter(group, 5, callbacks[i % 2], i));
            });
            await loop.settle();
            await Promise.all(closed);
            for (let i = 0; i < 10; i++) await new Promise((resolve) => setTimeout(resolve, 2));
            return { log, size: scheduler.size };
          }),
        way,
      ),
    );
    const all = [0, 1, 2, 3, 4, 5];
    const size = way === 'rescheduleAfter' ? 6 : 0;
    expect(ended).toEqual({ log: way === 'close' ? ['data', undefined, all] : ['data', 6], size });
  });

  test.each(['skip', 'burst', 'delay'] as const)(
    'may repeat: a call never comes early nor twice, missedCalls %s',
    async (missedCalls) => {
      const seen = await onThread(world, (client) =>
        client.run(
          ({ scheduler, withStalls }, missedCalls) =>
            withStalls(async (loop) => {
              const PERIOD = 5;
              const log: string[] = [];
              let calls = 0;
              let isAhead = false;
              let start = 0;
              const begin = (call: () => void) => scheduler.scheduleEvery(0, PERIOD, call, undefined, { missedCalls });
              let kept = 0;
              let cancelled = 0;
              loop.onData = () => void log.push('data', `${scheduler.cancel(cancelled)}`);
              await loop.stall('an immediate', () => {
                start = scheduler.now();
                kept = begin(() => {
                  calls += 1;
                  if (calls * PERIOD > scheduler.now() - start) isAhead = true;
                  if (calls === 1) log.push('a call');
                });
                cancelled = begin(() => log.push('a call of the other'));
              });
              await loop.settle();
              while (calls < 15) await new Promise((resolve) => setTimeout(resolve, 1));
              return { log, isAhead, isLive: scheduler.cancel(kept) };
            }),
          missedCalls,
        ),
      );
      expect(seen).toEqual({ log: ['data', 'true', 'a call'], isAhead: false, isLive: true });
    },
  );
});

/** What makes a loop that is never idle of functions that each block it for longer than `ioFirst`. */
const chains = ['immediates', 'native timers'];

describe.each(worlds)('guarantee 16, a loop that is never idle: $name', (world) => {
  test.each(chains)('each timer waits for one poll at most, in a chain of %s', async (chain) => {
    const { delivered, ends } = await onThread(world, (client) =>
      client.run(({ scheduler }, chain) => {
        /** With the number of links so far. */
        const delivered: { deadline: number; after: number }[] = [];
        /** The times at which links ended. */
        const ends: number[] = [];
        return new Promise<{ delivered: typeof delivered; ends: number[] }>((resolve) => {
          const next = () => (chain === 'immediates' ? setImmediate(link) : setTimeout(link, 1));
          const link = () => {
            if (chain === 'immediates' && delivered.length < 150) next();
            for (let i = 0; ends.length < 30 && i < 5; i++) {
              const deadline = scheduler.now() + 1 + 7 * i;
              scheduler.schedule(0, deadline, () => {
                delivered.push({ deadline, after: ends.length });
                if (delivered.length === 150) resolve({ delivered, ends });
              });
            }
            const end = performance.now() + 15;
            while (performance.now() < end);
            ends.push(scheduler.now());
            if (chain !== 'immediates' && delivered.length < 150) next();
          };
          next();
        });
      }, chain),
    );
    expect(delivered).toHaveLength(150);
    if (world.shards > 0) return; // nobody can say when a thread's news arrives
    // A turn that comes after a link in which timers fell due leaves them to the next poll, after which there may be
    // another link.
    const waits = delivered.map(({ deadline, after }) => {
      const due = ends.findIndex((now) => now >= Math.ceil(deadline) + 2) + 1; // native timers may come 2 ms after
      return due === 0 ? 0 : after - due;
    });
    expect(Math.max(...waits)).toBeLessThanOrEqual(1);
  });
});
