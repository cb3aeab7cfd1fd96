// active() starts what has an _idleTimeout of at least 0, and leaves anything else as it was. Gone since Node 24.
import assert from 'node:assert';
import timers from 'node:timers';

if (timers.active !== undefined) {
  for (const delay of [0, 1]) {
    const item = { _idleTimeout: delay };
    timers.active(item);
    assert.strictEqual(item._idleTimeout, delay);
    assert.ok(Number.isInteger(item._idleStart));
    assert.ok(item._idleNext);
    assert.ok(item._idlePrev);
  }
  for (const delay of [-1, undefined]) {
    const item = { _idleTimeout: delay };
    timers.active(item);
    assert.deepStrictEqual(item, { _idleTimeout: delay });
  }
}
