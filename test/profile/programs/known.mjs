// A program whose timers are known: test/profile/profile.long.test.ts counts them.
import { setTimeout as after, clearTimeout as clear, setInterval as every } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';

const left = (count, run) => Array.from({ length: count }, run);
const late = () => {};

left(100, () => setTimeout(late, 30)); // site: fires
const idle = left(50, () => after(late, 5000)); // site: idle
for (const timer of idle.slice(0, 20)) for (let n = 0; n < 3; n++) timer.refresh();
const own = setTimeout(() => clearTimeout(own), 9); // in vain: it fires
let ticks = 0;
const interval = every(() => ++ticks === 3 && clearInterval(interval), 5);
await Promise.all(left(10, (_, at) => sleep(7 + (at % 2))));
left(5, () => setImmediate(late));
for (const timer of idle) clear(timer);
clear(idle[0]); // in vain
await sleep(60);
setTimeout(late, 60_000).unref(); // live at the end
