import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { parentPort, Worker } from 'node:worker_threads';
import { asPart, commandFile } from '../../bench/replay/command-file.ts';
import { CpuMeter } from '../../bench/replay/cpu-meter.ts';

// What a TCP connection costs an event loop that accepts it, answers once, and closes it: CPU of the server's thread.
// The clients are another thread's. Sends ms per connection.

const connections = 6000;
/** The first ones are the compiler's. */
const warmup = 2000;
const atOnce = 32;
const request = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';
const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok';

export async function serveWork(): Promise<void> {
  const meter = new CpuMeter();
  let served = 0;
  const server = createServer((socket) => {
    if (++served === warmup) meter.start();
    socket.once('data', () => socket.end(answer));
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clients = new Worker(commandFile, {
    argv: asPart('work-clients', `${(server.address() as AddressInfo).port}`),
  });
  await once(clients, 'message');
  const { thread } = meter.read();
  server.close();
  process.send!(thread / (served - warmup));
  process.disconnect();
}

/** The thread of the clients. */
export function callServer(port: string): void {
  let left = connections;
  const call = () => {
    if (left === 0) return;
    left -= 1;
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(request));
    socket.on('error', () => socket.destroy());
    socket.resume().on('close', () => {
      open -= 1;
      if (left > 0) begin();
      else if (open === 0) parentPort!.postMessage('done');
    });
  };
  let open = 0;
  const begin = () => {
    open += 1;
    call();
  };
  for (let n = 0; n < atOnce; n++) begin();
}
