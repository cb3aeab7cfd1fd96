import type { Writable } from 'node:stream';
import { process } from '../process.ts';

const names = ['stdout', 'stderr'] as const;

/**
 * Calls a function that creates a thread or loads modules, and keeps the program's stdout and stderr from being opened
 * by it: an opened pipe is non-blocking from then on, so a large `fs.writeSync(1, …)` fails with EAGAIN, for all
 * processes that share it.
 *
 * `node:assert`, which piscina loads, reads `process.stderr` up to Node 20. And Node pipes the output of a Worker into
 * both streams unless the options `stdout` and `stderr` say otherwise, and so opens them in the Worker's constructor
 * (lib/internal/worker.js); piscina has neither option. Therefore both names stand for streams that open the real one
 * when the thread first writes.
 */
export function withoutOpeningStreams<T>(create: () => T): T {
  const own = names.map((name) => Object.getOwnPropertyDescriptor(process, name));
  // What cannot be put back stays as it is: a program may have frozen its streams.
  if (own.some((property) => !property?.configurable)) return create();
  for (const name of names) {
    Object.defineProperty(process, name, { value: openedOnWrite(name), configurable: true, enumerable: true });
  }
  try {
    return create();
  } finally {
    for (const [at, name] of names.entries()) Object.defineProperty(process, name, own[at] as PropertyDescriptor);
  }
}

function openedOnWrite(name: (typeof names)[number]): Writable {
  const { Writable } = process.getBuiltinModule('node:stream');
  return new Writable({
    decodeStrings: false,
    write: (text, encoding, done) => void process[name].write(text, encoding, () => done()),
  });
}
