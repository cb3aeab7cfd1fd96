// Every way to set, move and end a timer, once or some times: test/profile/kinds.test.ts knows the counts of each
// delay.
import * as timers from 'node:timers';
import { setInterval as every, scheduler, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setTimeout as named } from 'timers';

const nothing = () => {};

// 101: set in every way, and all fire.
setTimeout(nothing, 101);
globalThis.setTimeout(nothing, 101, 'an argument');
named(nothing, 101);
timers.setTimeout(nothing, 101);
timers.default.setTimeout(nothing, 101);
process.getBuiltinModule?.('timers')?.setTimeout(nothing, 101) ?? setTimeout(nothing, 101);

// 102: promises, of which one is aborted.
const abort = new AbortController();
const aborted = sleep(102, undefined, { signal: abort.signal }).catch(() => 'aborted');
abort.abort();
await Promise.all([sleep(102), promisify(setTimeout)(102), scheduler.wait(102), aborted]);

// 103: an interval, and one of promises, each called four times.
let calls = 0;
const interval = setInterval(() => ++calls === 4 && clearInterval(interval), 103);
for await (const _ of every(103)) if (calls === 4) break;

// 10_004: cleared in every way.
const set = () => setTimeout(nothing, 10_004);
clearTimeout(set());
clearInterval(set());
clearTimeout(+set());
clearTimeout(String(+set()));
set().close();
timers.clearTimeout(set());
set()[Symbol.dispose]?.() ?? undefined;
{
  const first = set();
  first.unref();
  clearTimeout(first);
}

// 10_005: cleared in vain counts nothing.
const twice = setTimeout(nothing, 10_005);
clearTimeout(twice);
clearTimeout(twice);
clearTimeout(undefined);
clearTimeout({});

// 106: refreshed before it fires, and once after that, so that it fires again.
const moved = setTimeout(nothing, 106);
moved.refresh().refresh();
await sleep(150);
moved.refresh();
await sleep(150);

// 1: what Node makes of delays that are none.
for (const delay of [0, -1, Number.NaN, undefined, 1]) setTimeout(nothing, delay);
// 10_007 is live, and does not hold the process; immediates are no timers.
setTimeout(nothing, 10_007).unref();
for (let n = 0; n < 9; n++) setImmediate(nothing);
clearImmediate(setImmediate(nothing));
queueMicrotask(nothing);
await sleep(20);
