// Entry of a process that imports `argv[2]`, and writes what that took.
import { writeSync } from 'node:fs';

const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
const countBuiltins = (): number => moduleLoadList.filter((name) => name.startsWith('NativeModule ')).length;
const readResident = (): number => process.memoryUsage().rss;

performance.now();
readResident(); // from here on it takes no memory itself
const builtins = countBuiltins();
const resident = readResident();
const start = performance.now();
await import(process.argv[2]);
const time = performance.now() - start;
const memory = (readResident() - resident) / 1e6;
writeSync(1, JSON.stringify({ time, memory, builtins: countBuiltins() - builtins }));
