export interface Memory {
  readonly resident: number;
  /** Of JavaScript: heap and array buffers. */
  readonly heap: number;
}

/** Bytes in use after garbage collection. Needs node --expose-gc. */
export function readMemory(): Memory {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, heap: heapUsed + external };
}
