import { setImmediate as nextTurn } from 'node:timers/promises';

/** Turns until what was set has gone wherever it goes. */
const TURNS = 3;

/** Lets the turns pass that what was done before still needs, and collects what it has left. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  globalThis.gc?.();
}

/** Bytes in use after that: of the heap, and of array buffers and what else JavaScript holds outside of it. */
export async function settledMemory(): Promise<{ heap: number; external: number }> {
  await settle();
  const { heapUsed, external } = process.memoryUsage();
  return { heap: heapUsed, external };
}
