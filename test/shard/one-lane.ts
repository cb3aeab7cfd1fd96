import { beforeAll } from 'vitest';
import { LaneWorld } from './lane-world.ts';
import { steerImmediates } from './stepped-loop.ts';

/** One lane with both of its ends in this thread. */
export function worldOf(
  options: { capacity?: number; ring?: number; budget?: number; manual?: boolean } = {},
): LaneWorld {
  const { capacity = 16, ring = 16, budget = 1000, manual = false } = options;
  return new LaneWorld({ capacity, rings: { commands: ring, fired: ring }, budget, maxBatch: 1000, manual });
}

/** For the tests of the file that calls this: stepped loops wait for their steps. */
export function steerAllTests(): void {
  beforeAll(() => steerImmediates()); // what a hook returns is called in the end
}

export function scheduleAll(world: LaneWorld, deadlines: readonly number[]): void {
  for (const deadline of deadlines) if (!world.client.schedule(deadline)) throw new Error('the table is full');
}

/** Schedules timers, and has them filed. */
export function file(world: LaneWorld, deadlines: readonly number[]): void {
  scheduleAll(world, deadlines);
  world.settle();
}

/** Moves the clock, and has what is due delivered. */
export function advance(world: LaneWorld, ticks: number): void {
  world.advance(ticks);
  world.settle();
}

/** The deadlines of what has been delivered, in its order. */
export const delivered = (world: LaneWorld): number[] => world.client.deliveries.map(({ deadline }) => deadline);
