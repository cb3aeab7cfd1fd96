/**
 * A program that imports what a stranger would, fires timers on two threads, and ends by itself; prints what became of
 * it.
 */
export const program = `
import { createScheduler, MissingFileError } from 'shardwheel';
import { setTimeout } from 'shardwheel/timers';
import { createWheel } from 'shardwheel/wheel';

async function main() {
  const scheduler = createScheduler({ shards: 2, ...globalThis.options });
  await scheduler.ready;
  let fired = 0;
  const fire = () => { fired += 1; };
  for (let hint = 0; hint < 100; hint++) scheduler.scheduleAfter(hint, 20, fire);
  await new Promise((resolve) => scheduler.scheduleAfter(1, 60, resolve));
  // A shard of a busy machine may be late.
  for (let waits = 0; waits < 1000 && fired < 100; waits++) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 5));
  const { serving, shards } = await scheduler.stats();
  const isInline = shards.some(({ inline }) => inline);
  const deaths = shards.reduce((sum, shard) => sum + shard.deaths, 0);
  console.log(JSON.stringify({ fired, by: serving.by, isInline, deaths, wheel: createWheel('blitz').size }));
}

main().catch((error) => {
  console.error(error instanceof MissingFileError ? error.message : error);
  process.exitCode = 1;
});
`;

export const wentWell = { fired: 100, by: 'threads', isInline: false, deaths: 0, wheel: 0 };
