import { expect, test } from 'vitest';
import { LateCommands } from '../../src/shard/late-commands.ts';

test('late commands of a second round stand in their order with those of the first that had no room', () => {
  const late = new LateCommands();
  for (const tick of [7, 5, 9]) late.add(tick, 1, tick);
  late.sort();
  expect(late.ticks[late.next]).toBe(5);
  late.drop();
  late.add(6, 1, 6);
  late.add(3, 1, 3);
  late.sort();
  expect(late.length).toBe(4);
  const rest: number[] = [];
  late.forEach((slot) => void rest.push(slot));
  expect(rest).toEqual([3, 6, 7, 9]);
});
