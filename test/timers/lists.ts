// The tests that run on each of the subjects, but for those of order. They run on `node:timers` alone, for whoever has
// replaced Node's functions there before.
import { subjects } from './subjects.ts';

subjects.splice(1);

await import('./callbacks.test.ts');
await import('./context.test.ts');
await import('./handles.long.test.ts');
await import('./intervals.test.ts');
await import('./promises.long.test.ts');
await import('./proxies.test.ts');
