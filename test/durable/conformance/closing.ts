import { DurableStoreError, openDurableTimers } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { note, pause, type Stores, soon } from './stores.ts';

/** The end of the durable timers, and what comes after. */
export function testClosing(stores: Stores): void {
  test('timers outlive a close, and are delivered when they are due or overdue', async () => {
    const first = await stores.start();
    await first.schedule('a', 'overdue', soon(), 'o');
    await first.schedule('a', 'soon', soon(500), 's');
    await first.schedule('a', 'far', soon(1_000_000), 'f');
    await first.close();
    await pause(100);
    const second = await stores.start();
    expect(await second.count()).toBe(3);
    const seen = note(second);
    await stores.until(() => seen.length === 2);
    expect(seen).toMatchObject([{ payload: 'o' }, { payload: 's', early: false }]);
    await stores.until(async () => (await second.count()) === 1);
  });

  test.each([2 ** 31, 2 ** 53, Number.MAX_VALUE])('close({ within: %d }) waits for what runs', async (within) => {
    const timers = await stores.start();
    let hasEnded = false;
    let hasBegun = false;
    timers.handle('a', async (_, { signal }) => {
      hasBegun = true;
      await pause(100);
      hasEnded = !signal.aborted;
    });
    await timers.schedule('a', 'k', soon());
    await stores.until(() => hasBegun);
    await timers.close({ within });
    expect(hasEnded).toBe(true);
  });

  test('a store is opened once at a time, and again after a close', async () => {
    const store = stores.kind.open();
    const timers = await stores.start({ store });
    await expect(openDurableTimers({ store })).rejects.toThrow(DurableStoreError);
    await timers.schedule('a', 'k', soon(1_000_000));
    await timers.close();
    const again = await stores.start({ store });
    expect(await again.count()).toBe(1);
  });

  test('calls after the close reject; close is idempotent', async () => {
    const timers = await stores.start();
    await timers.close();
    await timers.close();
    const calls = [
      timers.schedule('a', 'k', 1),
      timers.cancel('a', 'k'),
      timers.reschedule('a', 'k', 1),
      timers.get('a', 'k'),
      timers.count(),
      timers.timers('a').next(),
      timers.deadLetters('a').next(),
      timers.removeDeadLetter('a', 'k'),
      timers.flush(),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'ERR_DURABLE_TIMERS_CLOSED' });
    expect(() => timers.handle('a', () => undefined)).toThrow('after the durable timers were closed');
    expect(await timers.stats()).toMatchObject({ store: undefined });
  });
}
