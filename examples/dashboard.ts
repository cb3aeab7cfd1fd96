// A program that can be looked at: connections with an idle timeout each, requests with a deadline. For a minute, or as
// many seconds as it is told: `npm run build && node dist/examples/dashboard.js [seconds]`.
import { createScheduler } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';

const [, , seconds = '60'] = process.argv;
const scheduler = createScheduler({ shards: 2 });
const { url } = await serveDashboard(scheduler, { port: 0 });
console.log(`Open ${url} in a browser, or: npx shardwheel watch ${url}`);

const idle = scheduler.label('idle');
const deadlines = scheduler.label('request');
const connections: number[] = [];
let requests = 0;
let idleOnes = 0;
let lateOnes = 0;

const disconnect = (): void => {
  idleOnes += 1;
};
const giveUp = (): void => {
  lateOnes += 1;
};
const answer = (deadline: number): void => void scheduler.cancel(deadline);

/** Some connections come, and each request moves its connection's idle timeout. One in ten is too late. */
function traffic(): void {
  for (let i = 0; i < 20; i++) connections.push(idle.scheduleAfter(connections.length, 20_000, disconnect));
  for (let i = 0; i < 200; i++) {
    const connection = Math.floor(Math.random() * connections.length);
    scheduler.rescheduleAfter(connections[connection], 20_000);
    const deadline = deadlines.scheduleAfter(connection, 500, giveUp);
    if (++requests % 10 > 0) scheduler.scheduleAfter(connection, Math.random() * 300, answer, deadline);
  }
}

const repeating = setInterval(traffic, 20);
setTimeout(async () => {
  clearInterval(repeating);
  await scheduler.close(); // the dashboard ends with it, and says so to whoever looks
  console.log(`${requests} requests on ${connections.length} connections, ${lateOnes} too late, ${idleOnes} idle`);
}, Number(seconds) * 1000);
