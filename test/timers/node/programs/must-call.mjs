import { writeSync } from 'node:fs';

const expectations = [];

/** A function that must be called exactly `times` times until the process exits: else the exit code is 1. */
export function mustCall(callback = () => undefined, times = 1) {
  return counted(callback, times);
}

/** A function that must never be called. A call is seen at exit, even where its caller swallows errors. */
export function mustNotCall() {
  return counted(() => undefined, 0);
}

function counted(callback, times) {
  const expectation = { times, calls: 0, place: new Error('to see the place').stack.split('\n')[3].trim() };
  expectations.push(expectation);
  return function counting(...given) {
    expectation.calls += 1;
    return Reflect.apply(callback, this, given);
  };
}

process.on('exit', () => {
  const broken = expectations.filter(({ times, calls }) => calls !== times);
  if (broken.length === 0) return;
  for (const { times, calls, place } of broken) writeSync(2, `called ${calls} times instead of ${times}: ${place}\n`);
  process.exitCode = 1;
});
