import type { DurableTimers, FailedAttempt } from 'shardwheel/durable';
import { describe, expect, test } from 'vitest';
import { all, latch, nothingMore, pause, type Stores, soon } from './stores.ts';

const never = (): Promise<never> => new Promise(() => undefined);

/** The code of the reason, once the signal has aborted. */
const aborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const tell = (): void => resolve(signal.reason.code);
    if (signal.aborted) tell();
    else signal.addEventListener('abort', tell);
  });

/** Handles 'a': each attempt waits for its signal, and then for the latch. */
function noteSignals(timers: DurableTimers): { begun: number; codes: string[]; end(): void } {
  const { opened, open } = latch();
  const noted = { begun: 0, codes: [] as string[], end: open };
  timers.handle('a', async (_, { signal }) => {
    noted.begun += 1;
    void aborted(signal).then((code) => noted.codes.push(code));
    await opened;
  });
  return noted;
}

/** What handlers are given besides their payload, and asked for beside their name. */
export function testHandlers(stores: Stores): void {
  describe.each([0, 60_000])('persistAfter %i', (persistAfter) => {
    test('a name whose handlers never settle keeps no other from being served, whenever that is handled', async () => {
      const timers = await stores.start({ persistAfter, concurrency: 5 });
      const { opened, open } = latch();
      let stuck = 0;
      timers.handle('stuck', () => {
        stuck += 1;
        return opened;
      });
      await Promise.all(Array.from({ length: 40 }, (_, at) => timers.schedule('stuck', `${at}`, soon(0))));
      await stores.until(() => stuck === 5);
      for (const name of ['b', 'c']) {
        let seen = 0;
        timers.handle(name, () => {
          seen += 1;
        });
        await Promise.all(Array.from({ length: 30 }, (_, at) => timers.schedule(name, `${at}`, soon(at))));
        await stores.until(() => seen === 30);
        await timers.schedule(name, 'later', soon(100));
        await stores.until(() => seen === 31);
      }
      expect(stuck).toBe(5);
      open();
      await stores.until(() => stuck === 40);
    });

    test('a handler has as many slots as it asks for, else as many as the durable timers say', async () => {
      const timers = await stores.start({ persistAfter, concurrency: 3 });
      const most = { own: 0, usual: 0 };
      let seen = 0;
      for (const [name, options] of [
        ['own', { concurrency: 2 }],
        ['usual', undefined],
      ] as const) {
        let running = 0;
        const work = async (): Promise<void> => {
          running += 1;
          most[name] = Math.max(most[name], running);
          await pause(20);
          running -= 1;
          seen += 1;
        };
        timers.handle(name, work, options);
      }
      const deadline = soon(50);
      const names = ['own', 'usual'];
      const schedule = (name: string) =>
        Array.from({ length: 20 }, (_, at) => timers.schedule(name, `${at}`, deadline));
      await Promise.all(names.flatMap(schedule));
      await stores.until(() => seen === 40);
      expect(most).toEqual({ own: 2, usual: 3 });
    });

    test('at its timeout an attempt has failed, and its signal aborts; its slot is free', async () => {
      const timers = await stores.start({ persistAfter, retry: { attempts: 2, delay: 10 } });
      const codes: string[] = [];
      const failed: FailedAttempt[] = [];
      timers.on('failed', (attempt) => failed.push(attempt));
      const stuck = (_: unknown, { signal }: { signal: AbortSignal }): Promise<never> => {
        void aborted(signal).then((code) => codes.push(code));
        return never();
      };
      timers.handle('a', stuck, { concurrency: 1, timeout: 60 });
      await Promise.all(['k', 'l'].map((key) => timers.schedule('a', key, soon(0))));
      await stores.until(async () => (await timers.stats()).died === 2);
      expect(codes).toEqual(Array(4).fill('ERR_ATTEMPT_TIMEOUT'));
      expect(failed.map(({ error }) => (error as { code: string }).code)).toEqual(codes);
      const letters = await all(timers.deadLetters('a'));
      expect(letters.map(({ key }) => key).sort()).toEqual(['k', 'l']);
      expect(letters[0].reason).toMatch(
        /of the timer '[kl]' of 'a' has ended: its handler has not ended within its timeout$/,
      );
      await timers.close(); // waits for no such handler
    });

    test('a handler that ends in time has none of its timeout', async () => {
      const timers = await stores.start({ persistAfter });
      let signal: AbortSignal | undefined;
      const quick = (_: unknown, delivery: { signal: AbortSignal }): void => {
        signal = delivery.signal;
      };
      timers.handle('a', quick, { timeout: 100 });
      await timers.schedule('a', 'k', soon(0));
      await stores.until(async () => (await timers.stats()).delivered === 1);
      await pause(200);
      expect(signal?.aborted).toBe(false);
      expect(await timers.stats()).toMatchObject({ delivered: 1, failed: 0 });
    });

    const overtaking = [
      ['cancelled', 'ERR_ATTEMPT_CANCELLED', (timers: DurableTimers) => timers.cancel('a', 'k')],
      ['scheduled anew', 'ERR_ATTEMPT_SUPERSEDED', (timers: DurableTimers) => timers.schedule('a', 'k', soon(1e6))],
    ] as const;
    test.each(overtaking)(
      'the signal of a timer that is %s aborts; it keeps its key until it ends',
      async (_, code, overtake) => {
        const timers = await stores.start({ persistAfter });
        const noted = noteSignals(timers);
        await timers.schedule('a', 'k', soon(0));
        await stores.until(() => noted.begun === 1);
        expect(noted.codes).toEqual([]);
        await overtake(timers);
        await stores.until(() => noted.codes.length === 1);
        expect(noted.codes).toEqual([code]);
        await timers.schedule('a', 'k', soon(0));
        await nothingMore();
        expect(noted.begun).toBe(1);
        noted.end();
        await stores.until(() => noted.begun === 2);
        await nothingMore();
        expect(noted.codes).toEqual([code]);
      },
    );

    test('reschedule and get are not about the attempt that runs', async () => {
      const timers = await stores.start({ persistAfter });
      const noted = noteSignals(timers);
      await timers.schedule('a', 'k', soon(0));
      await stores.until(() => noted.begun === 1);
      expect(await timers.reschedule('a', 'k', soon(1e6))).toBe(false);
      expect(await timers.get('a', 'k')).toBe(undefined);
      await nothingMore();
      expect(noted.codes).toEqual([]);
      noted.end();
    });

    test('close({ within }) aborts the signals of those that run longer', async () => {
      const timers = await stores.start({ persistAfter });
      const noted = noteSignals(timers);
      await Promise.all(['k', 'l'].map((key) => timers.schedule('a', key, soon(0))));
      await stores.until(() => noted.begun === 2);
      await timers.close({ within: 30 });
      expect(noted.codes).toEqual(Array(2).fill('ERR_DURABLE_TIMERS_CLOSED'));
    });

    test('each failed attempt is told, with what was thrown and when the next is due; then the death', async () => {
      const timers = await stores.start({ persistAfter, retry: { attempts: 3, delay: 20 } });
      const told: [event: string, about: unknown][] = [];
      timers.on('failed', (attempt) => told.push(['failed', attempt]));
      timers.on('dead', ({ key }) => told.push(['dead', key]));
      const errors = [new RangeError('one'), undefined, { code: 3 }];
      const times: number[] = [];
      timers.handle('a', (_, { attempt }) => {
        times.push(Date.now());
        return Promise.reject(errors[attempt - 1]);
      });
      await timers.schedule('a', 'k', soon(0));
      await stores.until(() => told.length === 4);
      const about = { name: 'a', key: 'k' };
      const failed = [1, 2, 3].map((attempt) => ({ ...about, attempt, error: errors[attempt - 1] }));
      expect(told).toEqual([
        ['failed', { ...failed[0], retryAt: expect.any(Number) }],
        ['failed', { ...failed[1], retryAt: expect.any(Number) }],
        ['failed', { ...failed[2], retryAt: undefined }],
        ['dead', 'k'],
      ]);
      for (const [at, [, attempt]] of told.slice(0, 2).entries()) {
        expect((attempt as FailedAttempt).error).toBe(errors[at]);
        expect(times[at + 1]).toBeGreaterThanOrEqual((attempt as FailedAttempt).retryAt as number);
      }
    });

    test('an attempt that was overtaken has not failed, whatever it does', async () => {
      const timers = await stores.start({ persistAfter, retry: { attempts: 1 } });
      const told: unknown[] = [];
      timers.on('failed', (attempt) => told.push(attempt));
      timers.on('dead', (letter) => told.push(letter));
      let begun = 0;
      timers.handle('a', async (_, { signal }) => {
        begun += 1;
        await aborted(signal);
        signal.throwIfAborted();
      });
      await timers.schedule('a', 'k', soon(0));
      await stores.until(() => begun === 1);
      expect(await timers.cancel('a', 'k')).toBe(true);
      await nothingMore();
      expect(told).toEqual([]);
      expect(await all(timers.deadLetters('a'))).toEqual([]);
    });
  });

  test('what another process overtakes is noticed', async () => {
    const [timers, other] = [await stores.start(), await stores.start()];
    const noted = noteSignals(timers);
    await timers.schedule('a', 'k', soon(0));
    await timers.schedule('a', 'l', soon(0));
    await stores.until(() => noted.begun === 2);
    expect(await other.cancel('a', 'k')).toBe(true);
    await stores.until(() => noted.codes.length === 1);
    await other.schedule('a', 'l', soon(1e6));
    await stores.until(() => noted.codes.length === 2);
    expect(noted.codes).toEqual(['ERR_ATTEMPT_CANCELLED', 'ERR_ATTEMPT_SUPERSEDED']);
    noted.end();
  });
}
