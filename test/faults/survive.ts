import { createScheduler, ShardHungError, type ShardRestart } from 'shardwheel';
import { expect } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { Fault, type FaultKind, type Point, recoveryPoints, withFaults } from '../fixtures/fault.ts';
import { Ledger } from '../fixtures/ledger.ts';
import { killShard, publish } from '../fixtures/shard-threads.ts';

/** What is scheduled each time round, unless so many are live already. */
const ROUND = 40;
const ENOUGH = 2000;

/**
 * ms after which a thread that is to hang is taken for hung. A busy machine keeps the others from a processor for less.
 */
export const HANG_TIMEOUT = 1600;

/**
 * Runs timers on two shards while a thread of shard 0 meets the fault, after it has passed the point `passes` times.
 * Each timer must end once and none early, and shard 1 must not be replaced. Returns what 'shard-restart' told of.
 *
 * @param hangTimeout of the thread that is to hang, and so of the other: where a busy machine has no processor for
 *   that one, and it is taken for hung, all is tried again with four times as much
 */
export async function survive(
  point: Point,
  kind: FaultKind,
  passes: number,
  hangTimeout = HANG_TIMEOUT,
): Promise<{ causes: string[]; hangTimeout: number }> {
  const fault = new Fault(point, kind, { passes });
  const scheduler = withFaults([fault], () =>
    createScheduler({
      shards: 2,
      capacity: 2 * ENOUGH,
      // Where the thread is not to hang, a machine that is busy with other tests must not make it seem so.
      thread: {
        hangTimeout: kind === 'hang' || kind === 'spin' ? hangTimeout : Number.POSITIVE_INFINITY,
        inlineAfter: { deaths: Number.POSITIVE_INFINITY, within: 1 },
        resourceLimits: { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 8 },
      },
    }),
  );
  const restarts: ShardRestart[] = [];
  scheduler.on('shard-restart', (restart) => restarts.push(restart));
  const ledger = new Ledger(scheduler);
  const draws = new Draws(SEED);
  const scheduleRound = (): void => {
    for (let i = 0; i < ROUND && scheduler.size < ENOUGH; i++) {
      ledger.schedule(draws.between(0, 30));
      if (draws.below(8) === 0) ledger.cancel(draws.below(ledger.count));
      if (draws.below(8) === 0) ledger.reschedule(draws.below(ledger.count), draws.between(0, 30));
    }
  };
  const isRecovery = (recoveryPoints as readonly string[]).includes(point);
  if (isRecovery) {
    await scheduler.ready;
    killShard(scheduler, 0);
  }
  await until(() => {
    scheduleRound();
    return fault.isReached;
  });
  scheduleRound(); // while the thread is dying
  publish(scheduler);
  if (kind === 'stand') killShard(scheduler, 0);
  await until(() => restarts.length > (isRecovery ? 1 : 0) || scheduler.size === 0);
  for (let round = 0; round < 3; round++) {
    scheduleRound();
    await pass(5);
  }
  await until(() => scheduler.size === 0 && restarts.length > 0);
  await pass(10);
  await scheduler.ready; // the other shard may have been served inline until now
  const stats = await scheduler.stats();
  await scheduler.close();
  ledger.expectEachOnce();
  const isFalseAlarm = restarts.some(({ shard, cause }) => shard === 1 && cause instanceof ShardHungError);
  if (isFalseAlarm && hangTimeout === HANG_TIMEOUT) return survive(point, kind, passes, 4 * HANG_TIMEOUT);
  expect(stats.shards.map(({ restarts, inline }) => [restarts > 0, inline])).toEqual([
    [true, false],
    [false, false],
  ]);
  expect(restarts.map(({ shard }) => shard)).toEqual(restarts.map(() => 0));
  const causes = restarts.map(({ cause }) => `${cause} ${(cause as { code?: string }).code ?? ''}`.trim());
  return { causes, hangTimeout };
}
