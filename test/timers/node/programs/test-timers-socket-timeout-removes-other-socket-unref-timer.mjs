// A socket's timeout may take away the timeout of another socket.
import net from 'node:net';
import { mustCall, mustNotCall } from './must-call.mjs';

const sockets = [];
const server = net.createServer((socket) => {
  sockets.push(socket);
  if (sockets.length < 2) return;
  const [first, second] = sockets;
  first.setTimeout(
    1,
    mustCall(() => {
      second.setTimeout(0);
      first.end();
      second.end();
    }),
  );
  second.setTimeout(2_000, mustNotCall());
});
server.listen(
  0,
  mustCall(() => {
    let open = 2;
    const ended = mustCall(() => {
      open -= 1;
      if (open === 0) server.close();
    }, 2);
    for (let count = 0; count < 2; count++) net.connect({ port: server.address().port }).resume().on('end', ended);
  }),
);
