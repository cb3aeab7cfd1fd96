// Where immediates throw, the rest of their queue runs before the immediates that were set meanwhile.
import assert from 'node:assert';
import domain from 'node:domain';
import { fail } from './fail.mjs';
import { mustCall } from './must-call.mjs';

const COUNT = 10;
let hasThrown = false;
let stage = -1;

process.once(
  'uncaughtException',
  mustCall((error, origin) => {
    if (error.message !== 'of an immediate' || origin !== 'uncaughtException') fail(`${origin}: ${error}`);
    if (stage !== 0) fail(`an error at stage ${stage}`);
  }),
);

const guard = domain.create();
guard.once(
  'error',
  mustCall((error) => {
    if (error.message !== 'of an immediate' || stage !== 0) fail(`at stage ${stage} the domain has seen ${error}`);
  }),
);

const run = mustCall((itsStage) => {
  assert.ok(itsStage >= stage);
  stage = itsStage;
  if (!hasThrown) setImmediate(run, 2);
}, COUNT * 3);
const throwError = () => {
  throw new Error('of an immediate');
};

for (let count = 0; count < COUNT; count++) setImmediate(run, 0);
setImmediate(() => {
  hasThrown = true;
  process.nextTick(() => assert.strictEqual(stage, 1));
  throwError();
});
guard.run(() => setImmediate(throwError));
for (let count = 0; count < COUNT; count++) setImmediate(run, 1);
