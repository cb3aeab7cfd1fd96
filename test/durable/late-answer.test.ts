import { memoryStore, openDurableTimers } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import type { RecordTable } from '../../src/extras/durable/table/record-table.ts';
import { latch, note, nothingMore, soon } from './conformance/stores.ts';

test('what another process cancels or schedules anew while a claim is answered late is not delivered as it was', async () => {
  const store = memoryStore();
  const timers = await openDurableTimers({ store });
  const other = await openDurableTimers({ store: memoryStore(store) });
  const { table } = (store as unknown as { opened: { table: RecordTable } }).opened;
  const replace = table.replace.bind(table);
  const { opened, open } = latch();
  table.replace = async (before, after, dead) => {
    const isDone = await replace(before, after, dead);
    if (after?.state === 'running') await opened;
    return isDone;
  };
  const seen = note(timers);
  for (const key of ['cancelled', 'anew', 'left']) await timers.schedule('a', key, soon(0), 'old');
  await expect.poll(() => timers.count()).toBe(0);
  expect(await other.cancel('a', 'cancelled')).toBe(true);
  await other.schedule('a', 'anew', soon(0), 'new');
  open();
  await expect.poll(() => seen.length).toBe(2);
  await nothingMore();
  expect(seen).toMatchObject([{ key: 'left' }, { key: 'anew', payload: 'new', attempt: 1 }]);
  expect(await timers.stats()).toMatchObject({ delivered: 2, failed: 0, store: { stored: 0, active: 0 } });
  for (const each of [timers, other]) await each.close();
});
