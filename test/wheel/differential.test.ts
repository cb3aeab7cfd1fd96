import { expect, test } from 'vitest';
import { playWorlds } from '../../tools/soak/wheel/differential.ts';
import { worldKinds } from '../../tools/soak/wheel/world.ts';
import { SEED } from '../fixtures/draws.ts';

const OPERATIONS = process.env.SHARDWHEEL_SLOW === '1' ? 1e8 : 1e6;

test(`wheels do what a sorted list does: ${OPERATIONS} moves, seed ${SEED}`, () => {
  const kinds = new Set<string>();
  const plan = { seed: SEED, operations: OPERATIONS, first: 0, stride: 1 };
  const finding = playWorlds(
    plan,
    () => undefined,
    ({ kind }) => kinds.add(kind),
  );
  expect(finding).toBeUndefined();
  expect([...kinds].sort()).toEqual([...worldKinds].sort());
});
