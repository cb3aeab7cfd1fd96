// What beforeExit handlers set brings the process back as often as they set something, and no oftener.
import net from 'node:net';
import { mustCall, mustNotCall } from './must-call.mjs';

const onNextExit = (callback) => process.once('beforeExit', mustCall(callback));

onNextExit(tryImmediate);

function tryImmediate() {
  setImmediate(mustCall(() => onNextExit(tryTimeout)));
}

function tryTimeout() {
  setTimeout(
    mustCall(() => onNextExit(tryListening)),
    1,
  );
}

function tryListening() {
  const server = net.createServer().listen(
    0,
    mustCall(() => {
      server.close();
      onNextExit(tryChain);
    }),
  );
}

function tryChain() {
  const LINKS = 5;
  let links = 0;
  const link = mustCall(() => {
    links += 1;
    if (links < LINKS) setTimeout(link, 1);
    else onNextExit(tryImmediateOfTick);
  }, LINKS);
  setTimeout(link, 1);
}

function tryImmediateOfTick() {
  process.nextTick(mustCall(() => setImmediate(mustCall(() => onNextExit(tryTick)))));
}

function tryTick() {
  process.nextTick(mustCall(() => process.once('beforeExit', mustNotCall())));
}
