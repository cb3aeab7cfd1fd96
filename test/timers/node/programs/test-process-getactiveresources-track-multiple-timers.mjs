// Every live timeout and every immediate counts as an active resource.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const active = (name) => process.getActiveResourcesInfo().filter((type) => type === name).length;
const immediates = active('Immediate');
for (let count = 0; count < 100; count++) setTimeout(mustCall(), Math.trunc(count / 10));
assert.strictEqual(active('Timeout'), 100);
for (let count = 0; count < 10; count++) setImmediate(mustCall());
assert.strictEqual(active('Immediate') - immediates, 10);
