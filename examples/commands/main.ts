// A command client over TCP, as of a cache or a database: pipelined commands, each with a deadline, against a server
// that answers at once, late, or never. Shows one callback for all deadlines, with a number as its argument, and timers
// that nearly always are cancelled.
//
// Measured, as a program of the bench (docs/performance.md): with a deadline per command the drop-in timers cost some
// percent more than Node's. Such a client gains where very many commands are under way at once.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { createScheduler, TimeoutError } from 'shardwheel';
import { countOption } from '../count-option.ts';
import { CommandClient } from './command-client.ts';

const LIMIT = 300;
const commands = countOption('commands', { value: 10_000, max: 1_000_000, help: 'commands that are answered at once' });
const scheduler = createScheduler();

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined);
  createInterface({ input: socket }).on('line', (line) => {
    const { id, command } = JSON.parse(line) as { id: number; command: string };
    const answer = () => socket.write(`${JSON.stringify({ id, answer: `${command} done` })}\n`);
    if (command === 'late') scheduler.scheduleAfter('server', LIMIT + 200, answer);
    else if (command !== 'never') answer();
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');

const client = await CommandClient.connect(scheduler, (server.address() as AddressInfo).port);
let answered = 0;
for (let sent = 0; sent < commands; sent += 100) {
  const batch = Array.from({ length: Math.min(100, commands - sent) }, (_, i) =>
    client.send(`get ${sent + i}`, 30_000),
  );
  const answers = await Promise.all(batch);
  answered += answers.filter((answer, i) => answer === `get ${sent + i} done`).length;
}
console.log(`answered: ${answered} of ${commands}, deadlines left: ${scheduler.size}`);

const told = async (command: string): Promise<string> => {
  const began = scheduler.now();
  const answer = await client.send(command, LIMIT).catch((error: unknown) => {
    if (error instanceof TimeoutError) return `${error.message}, not before: ${scheduler.now() - began >= LIMIT}`;
    return String(error);
  });
  return String(answer);
};
console.log('never:', await told('never'));
console.log('late:', await told('late'));
while (client.late === 0) await new Promise<void>((resolve) => scheduler.scheduleAfter('wait', 50, () => resolve()));
console.log(`answers that came too late and were dropped: ${client.late}`);

const broken = told('never');
await client.close();
console.log('a broken connection:', await broken);
server.close();
await once(server, 'close');
console.log('timers left:', (await scheduler.close()).length);
