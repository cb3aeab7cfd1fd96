// The tick of a tick comes before a timer that the tick sets.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const order = [];
process.nextTick(
  mustCall(() => {
    setTimeout(
      mustCall(() => order.push('timeout')),
      0,
    );
    process.nextTick(() => order.push('tick'));
  }),
);
process.on('exit', () => assert.deepStrictEqual(order, ['tick', 'timeout']));
