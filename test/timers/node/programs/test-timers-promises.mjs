// The module of promises is what node:timers calls `promises`.
import assert from 'node:assert';
import timers from 'node:timers';
import promises, { scheduler, setImmediate, setInterval, setTimeout } from 'node:timers/promises';

assert.strictEqual(promises, timers.promises);
assert.deepStrictEqual({ scheduler, setImmediate, setInterval, setTimeout }, { ...timers.promises });
