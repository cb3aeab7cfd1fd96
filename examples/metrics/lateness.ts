import { createScheduler, watchLateness } from 'shardwheel';

const scheduler = createScheduler();
const interval = scheduler.statsInterval();
const unwatch = watchLateness(50, ({ count, max, timers: [first] }) => {
  console.log(`${count} timers of a turn were late, by up to ${max.toFixed()} ms, ${first.callback} among them`);
});

const report = () => {
  const { from, to, delivered, lateness } = interval.next();
  console.log(`${(to - from).toFixed()} ms: ${delivered} timers, p99 ${lateness.p99.toFixed(1)} ms late`);
};

const sleep = (ms: number) => new Promise((resolve) => scheduler.scheduleAfter(0, ms, resolve));
for (let i = 0; i < 1000; i++) scheduler.scheduleAfter(i, 10, function onTimeout() {});
for (const end = performance.now() + 100; performance.now() < end; ); // blocks the event loop
await sleep(10);
report(); // some 90 ms
for (let i = 0; i < 1000; i++) scheduler.scheduleAfter(i, 10, function onTimeout() {});
await sleep(20);
report(); // what the block has done is of no interval but its own

unwatch();
await scheduler.close();
