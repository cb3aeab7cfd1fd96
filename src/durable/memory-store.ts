import type { DurableStore } from './durable-store.ts';
import { MemoryRecords, MemoryTable } from './table/memory-table.ts';
import { TableStore } from './table/table-store.ts';

/**
 * Keeps timers in this thread's memory, for tests: they outlive a `close()` of the durable timers, and the store can then be opened
 * once more. `of`: another store, whose timers are this one's as well, as if two processes had one store.
 */
export function memoryStore(of?: DurableStore): DurableStore {
  const records = (of === undefined ? undefined : recordsOf.get(of)) ?? new MemoryRecords();
  const store = new TableStore('memory', async () => new MemoryTable(records));
  recordsOf.set(store, records);
  return store;
}

const recordsOf = new WeakMap<DurableStore, MemoryRecords>();
