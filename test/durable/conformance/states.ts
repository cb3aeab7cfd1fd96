import type { DurableTimers } from 'shardwheel/durable';
import { describe, expect, test } from 'vitest';
import { all, latch, nothingMore, pause, type Stores, soon } from './stores.ts';

const FAR = 1_000_000;

/** A timer in one of its states. */
interface Held {
  /** Which is asked, and which delivers. */
  readonly asked: DurableTimers;
  readonly timers: DurableTimers;
  /** What the handler of the key has been called with: payload and attempt. */
  readonly calls: [payload: unknown, attempt: number][];
  /** Lets the attempt that runs end, if one does. */
  end(outcome: 'resolve' | 'reject'): void;
}

/** What calls resolve with in each state of a timer; of `get`, the payload. */
const expectations = {
  waiting: { cancel: true, reschedule: true, get: 'old' },
  /** And waits for a slot, which another timer has. */
  due: { cancel: true, reschedule: true, get: 'old' },
  running: { cancel: true, reschedule: false, get: undefined },
  followed: { cancel: true, reschedule: true, get: 'next' },
  cancelled: { cancel: false, reschedule: false, get: undefined },
  between: { cancel: true, reschedule: true, get: 'old' },
  dead: { cancel: false, reschedule: false, get: undefined },
  none: { cancel: false, reschedule: false, get: undefined },
} as const;
type State = keyof typeof expectations;
/** In which an attempt of the timer runs. */
const running: readonly State[] = ['running', 'followed', 'cancelled'];

/** Each call, in each state of a timer, by the process that delivers or another; stored or not. */
export function testStates(stores: Stores): void {
  async function hold(state: State, persistAfter: number, by: 'the same' | 'another'): Promise<Held> {
    const isDead = state === 'dead';
    const retry = { attempts: isDead ? 1 : 5, delay: state === 'between' ? 300_000 : 20, maxDelay: 300_000 };
    const timers = await stores.start({ persistAfter, retry, concurrency: state === 'due' ? 1 : 100 });
    const calls: Held['calls'] = [];
    let end: Held['end'] = () => undefined;
    const isHeld = running.includes(state);
    const { opened: slotFreed, open: freeSlot } = latch();
    let isTaken = false;
    timers.handle('a', (payload, { key, attempt }) => {
      if (key === 'other') {
        isTaken = true;
        return slotFreed;
      }
      calls.push([payload, attempt]);
      if (calls.length > 1) return undefined;
      if (payload === 'old' && (state === 'between' || isDead)) throw new Error('as the test wants it');
      return new Promise<void>((resolve, reject) => {
        end = (outcome) => (outcome === 'resolve' ? resolve() : reject(new Error('as the test wants it')));
        if (!isHeld) resolve();
      });
    });
    const asked = by === 'another' ? await stores.start() : timers;
    if (state === 'due') {
      end = freeSlot;
      await timers.schedule('a', 'other', soon(0));
      await stores.until(() => isTaken);
    }
    if (state !== 'none') await timers.schedule('a', 'k', state === 'waiting' ? soon(FAR) : soon(0), 'old');
    if (state === 'due') await pause(30);
    else if (state !== 'none' && state !== 'waiting') await stores.until(() => calls.length === 1);
    if (state === 'followed') await timers.schedule('a', 'k', soon(FAR), 'next');
    if (state === 'cancelled') expect(await timers.cancel('a', 'k')).toBe(true);
    if (state === 'between') await stores.until(async () => (await asked.get('a', 'k')) !== undefined);
    if (state === 'dead') await stores.until(async () => (await all(timers.deadLetters('a'))).length === 1);
    return { asked, timers, calls, end: (outcome) => end(outcome) };
  }

  const ways = [
    { persistAfter: 0, by: 'the same' },
    { persistAfter: 0, by: 'another' },
    { persistAfter: 60_000, by: 'the same' },
  ] as const;
  for (const { persistAfter, by } of ways) {
    describe(`asked by ${by} process, persistAfter ${persistAfter}`, () => {
      for (const state of Object.keys(expectations) as State[]) {
        const expected = expectations[state];
        const runs = running.includes(state);
        const isBusy = runs || state === 'due';
        const attempts = state === 'between' ? 1 : 0;

        test(`${state}: get, count, timers show what is scheduled`, async () => {
          const { asked, end } = await hold(state, persistAfter, by);
          const isThere = expected.get !== undefined;
          const shown = isThere ? { payload: expected.get, attempts } : undefined;
          const got = await asked.get('a', 'k');
          if (shown === undefined) expect(got).toBeUndefined();
          else expect(got).toMatchObject(shown);
          expect([await asked.count('a'), await asked.count()]).toEqual(isThere ? [1, 1] : [0, 0]);
          expect(await all(asked.timers('a'))).toMatchObject(shown === undefined ? [] : [shown]);
          end('resolve');
        });

        test(`${state}: cancel is ${expected.cancel}, once; nothing more is delivered, nothing dies`, async () => {
          const { asked, timers, calls, end } = await hold(state, persistAfter, by);
          const before = calls.length;
          expect(await asked.cancel('a', 'k')).toBe(expected.cancel);
          expect(await asked.cancel('a', 'k')).toBe(false);
          expect(await asked.get('a', 'k')).toBeUndefined();
          end('reject');
          await nothingMore();
          await pause(100);
          expect(calls).toHaveLength(before);
          expect(await asked.count()).toBe(0);
          expect(await all(timers.deadLetters('a'))).toHaveLength(state === 'dead' ? 1 : 0);
        });

        test(`${state}: reschedule is ${expected.reschedule}, and gives all attempts back`, async () => {
          const { asked, timers, calls, end } = await hold(state, persistAfter, by);
          expect(await asked.reschedule('a', 'k', soon(150))).toBe(expected.reschedule);
          end('resolve');
          const before = calls.length;
          if (expected.reschedule) await stores.until(() => calls.length === before + 1);
          await nothingMore();
          expect(calls.slice(before)).toEqual(expected.reschedule ? [[expected.get, 1]] : []);
          expect(await timers.count()).toBe(0);
        });

        for (const outcome of runs ? (['resolve', 'reject'] as const) : (['resolve'] as const)) {
          const after = runs ? `, after an attempt that does ${outcome}` : '';
          test(`${state}: what is scheduled comes next, once${after}`, async () => {
            const { asked, timers, calls, end } = await hold(state, persistAfter, by);
            const before = calls.length;
            await asked.schedule('a', 'k', soon(0), 'new');
            if (runs) {
              expect(await asked.get('a', 'k')).toMatchObject({ payload: 'new', attempts: 0 });
              await nothingMore();
              expect(calls).toHaveLength(before);
            }
            end(outcome);
            await stores.until(() => calls.length > before);
            await nothingMore();
            expect(calls.slice(before)).toEqual([['new', 1]]);
            expect(await asked.count()).toBe(0);
            expect(await all(timers.deadLetters('a'))).toHaveLength(state === 'dead' ? 1 : 0);
          });
        }

        test(`${state}: close ${isBusy ? 'waits for what runs, and' : ''} loses nothing`, async () => {
          const { asked, timers, calls, end } = await hold(state, persistAfter, by);
          if (asked !== timers) await asked.close();
          let isClosed = false;
          const closed = timers.close().then(() => {
            isClosed = true;
          });
          if (isBusy) {
            await pause(50);
            expect(isClosed).toBe(false);
          } else {
            await closed; // nothing ends the attempt, so it must not wait for one
          }
          end('reject');
          await closed;
          const next = await stores.start();
          const kept = state === 'running' ? 'old' : expected.get;
          const found = await next.get('a', 'k');
          expect(found?.payload).toBe(kept);
          if (found !== undefined) expect(found.attempts).toBe(state === 'running' ? 1 : attempts);
          expect(calls.length).toBeLessThan(2);
        });
      }
    });
  }

  test.each([0, 60_000])(
    'close({ within }) interrupts what runs longer: it is delivered again, persistAfter %i',
    async (persistAfter) => {
      const timers = await stores.start({ persistAfter, retry: { attempts: 1 } });
      let isRunning = false;
      timers.handle('a', () => {
        isRunning = true;
        return new Promise(() => undefined);
      });
      await timers.schedule('a', 'k', soon(0), 'p');
      await stores.until(() => isRunning);
      await timers.close({ within: 50 });
      const next = await stores.start({ retry: { attempts: 1 } });
      const seen: unknown[] = [];
      next.handle('a', (payload, { attempt }) => seen.push([payload, attempt]));
      await stores.until(() => seen.length === 1);
      expect(seen).toEqual([['p', 1]]);
      expect(await all(next.deadLetters('a'))).toEqual([]);
    },
  );
}
