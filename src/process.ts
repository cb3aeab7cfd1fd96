/**
 * Node's `process`. It is taken once, since a program may replace the global. And it is not imported: an import of
 * `node:process` builds a facade that reads every property, and so opens the program's standard streams. They are
 * non-blocking from then on, for every process that shares them.
 *
 * `process.getBuiltinModule` loads what is dear to import, when it is first needed. An import builds such a facade as
 * well, so `node:util` loads streams and a differ: 6 ms and 2.6 MB on Node 24, `node:fs` 5 ms and 2.3 MB,
 * `node:worker_threads` 4 ms and 2 MB.
 */
export const { process } = globalThis;
