// What is no function is refused as a callback.
import assert from 'node:assert';

const refusal = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
for (const set of [setTimeout, setInterval, setImmediate]) {
  assert.throws(() => set(), refusal);
  for (const callback of ['text', { key: 'value' }, undefined, null, false]) {
    assert.throws(() => set(callback), refusal);
    assert.throws(() => set(callback, 0), refusal);
  }
}
