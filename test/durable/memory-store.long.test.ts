import { type DurableStore, memoryStore } from 'shardwheel/durable';
import { testStore } from './conformance.ts';

let first: DurableStore;
testStore('memoryStore', {
  create: () => {
    first = memoryStore();
  },
  open: () => memoryStore(first),
  destroy: () => undefined,
});
