import { expect, test } from 'vitest';
import { LoopShare } from '../../tools/replay/loop-share.ts';

test.each([1, 2, 3, 7])(
  '%i event loops share the connections: each has its own, and all have them in turn',
  (loops) => {
    const shares = Array.from({ length: loops }, (_, index) => new LoopShare(index, loops));
    for (let connections = 0; connections <= 20; connections++) {
      const numbers = shares.flatMap((share) =>
        Array.from({ length: share.of(connections) }, (_, nth) => share.numberOf(nth)),
      );
      expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: connections }, (_, number) => number));
    }
  },
);
