// The thread of blackhole.ts: listens, then blocks its event loop so that nothing is ever accepted.
import { type AddressInfo, createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const gate: Int32Array = workerData;
const server = createServer((socket) => socket.destroy());
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort?.postMessage((server.address() as AddressInfo).port);
  Atomics.wait(gate, 0, 0); // until Blackhole.close stores 1
  server.close();
});
