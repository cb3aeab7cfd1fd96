// An interval that gives up its ref in its callback goes on while something else keeps the process.
import assert from 'node:assert';
import net from 'node:net';
import { mustCall } from './must-call.mjs';

const CALLS = 4;

function testCleared() {
  const server = net.createServer().listen(0);
  let calls = 0;
  const interval = setInterval(
    mustCall(() => {
      interval.unref();
      calls += 1;
      if (calls < CALLS) return;
      clearInterval(interval);
      server.close(mustCall(testGoesOn));
    }, CALLS),
    1,
  );
}

function testGoesOn() {
  const server = net.createServer().listen(0);
  let calls = 0;
  const interval = setInterval(() => {
    interval.unref();
    calls += 1;
    if (calls === CALLS) server.close();
  }, 1);
  process.on('exit', () => assert.ok(calls >= CALLS));
}

testCleared();
