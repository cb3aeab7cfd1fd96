import { type DeadLetter, type DurableStore, type FailedAttempt, PayloadError } from 'shardwheel/durable';
import { describe, expect, test } from 'vitest';
import { all, type Stores, soon } from './stores.ts';

/** Keeps the payloads of keys that begin with 'bad' cut off, so that nobody can read them. */
function damaging(store: DurableStore): DurableStore {
  const put: DurableStore['put'] = (timer) =>
    store.put(timer.key.startsWith('bad') ? { ...timer, payload: timer.payload?.subarray(0, -3) } : timer);
  return new Proxy(store, {
    get(target, name) {
      if (name === 'put') return put;
      const found: unknown = Reflect.get(target, name);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}

const unreadable = expect.objectContaining({ name: 'PayloadError', code: 'ERR_PAYLOAD_UNREADABLE' });

/** What becomes of payloads: of those that cannot be read as well. */
export function testPayloads(stores: Stores): void {
  describe.each([0, 60_000])('payloads, persistAfter %i', (persistAfter) => {
    test('one that this process cannot read hides nothing else, and is a failed attempt', async () => {
      const retry = { attempts: 2, delay: 5 };
      const timers = await stores.start({ store: damaging(stores.kind.open()), persistAfter, retry });
      const keys = ['bad 1', 'bad 2', 'good'];
      timers.handle('stored', () => undefined); // so that it may be young
      for (const key of keys) await timers.schedule('stored', key, soon(1e6), { of: key });
      for (const key of keys) await timers.schedule('a', key, soon(0), { of: key });
      await timers.flush();
      const shown = [unreadable, unreadable, { of: 'good' }];
      const found = (await all(timers.timers('stored'))).sort((one, other) => (one.key < other.key ? -1 : 1));
      expect(found.map(({ payload }) => payload)).toEqual(shown);
      for (const [at, key] of keys.entries()) expect((await timers.get('stored', key))?.payload).toEqual(shown[at]);

      const seen: unknown[] = [];
      const failed: FailedAttempt[] = [];
      const letters: DeadLetter[] = [];
      timers.on('failed', (attempt) => failed.push(attempt));
      timers.on('dead', (letter) => letters.push(letter));
      timers.handle('a', (payload) => {
        seen.push(payload);
        throw new Error('as the test wants it');
      });
      await stores.until(() => letters.length === 3);
      expect(seen).toEqual([{ of: 'good' }, { of: 'good' }]);
      const ofBad = failed.filter(({ key }) => key === 'bad 1');
      expect(ofBad).toMatchObject([{ attempt: 1 }, { attempt: 2, retryAt: undefined }]);
      for (const { error } of ofBad) expect(error).toEqual(unreadable);
      for (const list of [letters, await all(timers.deadLetters('a'))]) {
        const sorted = [...list].sort((one, other) => (one.key < other.key ? -1 : 1));
        expect(sorted.map(({ payload }) => payload)).toEqual(shown);
        expect(sorted[0].reason).toMatch(/^This process cannot read a payload of \d+ bytes: /);
      }

      const { payload } = letters.find(({ key }) => key === 'bad 1') as DeadLetter;
      await expect(timers.schedule('a', 'bad 1', soon(0), payload)).rejects.toBe(payload); // it would be lost
      expect(payload).toBeInstanceOf(PayloadError);
    });

    test('a value comes back as it is, at each attempt, whatever a handler does with it', async () => {
      const timers = await stores.start({ persistAfter });
      const payload = () => ({
        never: new Date(Number.NaN),
        nested: new Map([['never', [new Date(Number.NaN), Number.NaN, -0, 2n ** 70n]]]),
        bytes: new Uint16Array([1, 2]),
      });
      const seen: unknown[] = [];
      timers.handle('a', (given, { attempt }) => {
        const { bytes } = given as { bytes: Uint16Array };
        seen.push(structuredClone(given));
        bytes.fill(9);
        if (attempt < 3) throw new Error('once more');
      });
      await timers.schedule('a', 'later', soon(1e6), payload());
      expect((await timers.get('a', 'later'))?.payload).toStrictEqual(payload());
      await timers.schedule('a', 'k', soon(0), payload());
      await stores.until(() => seen.length === 3);
      for (const each of seen) expect(each).toStrictEqual(payload());
    });
  });
}
