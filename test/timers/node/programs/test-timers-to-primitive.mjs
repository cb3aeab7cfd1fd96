// A timer's number, and that as a string, stand for it: as a key, and for clearTimeout.
import assert from 'node:assert';
import { mustNotCall } from './must-call.mjs';

for (const timer of [setTimeout(mustNotCall(), 1), setInterval(mustNotCall(), 1)]) {
  const number = timer[Symbol.toPrimitive]();
  assert.strictEqual(Number.isNaN(+timer), false);
  assert.strictEqual(+timer, number);
  assert.strictEqual(`${timer}`, `${number}`);
  assert.deepStrictEqual(Object.keys({ [timer]: timer }), [`${timer}`]);
  clearTimeout(+timer);
}
clearTimeout(+setTimeout(mustNotCall(), 1));
clearTimeout(`${setTimeout(mustNotCall(), 1)}`);
