import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createScheduler, type Scheduler } from 'shardwheel';
import type { Measurement, Scale, Suite } from '../suite.ts';
import { ThreadClock } from './thread-clock.ts';

const LIVE = 1_000_000;
const MIN = 5000;
const DELAY = 60_000;
const CHUNK = 4000;

/** Shrinks all, lets them grow back: in turns, so that each change finds the timers where the last has put them. */
const CHANGES = [0.5, 1, 0.25, 1, 0.1, 1];

const shardsOf = (subject: string): number => Number(subject.slice('shards '.length));

/** (q) What a factor that changes for a million live timers takes of the event loop. */
export const rescale: Suite = {
  name: 'steering rescale',
  title: 'Scaled timers: a factor changes for a million of them',
  codes: ['q'],
  about:
    'Delays of 60 to 120 s, a minimum of 5 s; factors of 0.5, 1, 0.25, 1, 0.1, 1, one after the other. Turns are those of the ' +
    'event loop until all are moved, the first within the call: CPU of the longest, so that a thread that waits for a processor ' +
    'counts for nothing. What was scheduled before has been collected.',
  base: 'shards 0',
  subjects: [
    { name: 'shards 0', note: 'inline: a move is filed in the turn that makes it' },
    { name: 'shards 1', note: 'a move to earlier is a command to the shard' },
  ],
  figures: [
    { key: 'shrink', title: 'longest turn as they shrink', unit: 'ms' },
    { key: 'grow', title: 'as they grow', unit: 'ms' },
    { key: 'shrunk', title: 'event-loop CPU until all have shrunk', unit: 'ms' },
    { key: 'grown', title: 'until all have grown', unit: 'ms' },
  ],
  run: measure,
};

async function measure(subject: string, scale: Scale): Promise<Measurement> {
  const live = scale.quick ? 10_000 : LIVE;
  const scheduler = createScheduler({ shards: shardsOf(subject) });
  await scheduler.ready;
  const idle = scheduler.label('idle', { min: MIN });
  for (let i = 0; i < live; i++) {
    idle.scheduleAfter(i, DELAY + (i % DELAY), undefined, i);
    if (i % CHUNK === 0) await nextTurn();
  }
  const figures = { shrink: 0, grow: 0, shrunk: 0, grown: 0 };
  for (const factor of CHANGES) {
    globalThis.gc?.();
    await sleep(scale.quick ? 20 : 500); // the shards have taken what the last change sent
    const { longest, total } = await change(scheduler, factor);
    const [turn, all] = factor < 1 ? (['shrink', 'shrunk'] as const) : (['grow', 'grown'] as const);
    figures[turn] = Math.max(figures[turn], longest);
    figures[all] = Math.max(figures[all], total);
  }
  const late = [...scheduler.liveTimers()].filter(({ deadline }) => deadline < DELAY).length;
  await scheduler.close();
  return { figures, checksums: { live, late } };
}

/** CPU of the event loop's thread, ms. */
async function change(scheduler: Scheduler, factor: number): Promise<{ longest: number; total: number }> {
  const clock = new ThreadClock();
  let isDone = false;
  let longest = 0;
  clock.now();
  const start = clock.now();
  let turn = start;
  const done = scheduler
    .label('idle')
    .setScale(factor)
    .then(() => {
      isDone = true;
    });
  while (!isDone) {
    await nextTurn();
    const now = clock.now();
    longest = Math.max(longest, now - turn);
    turn = now;
  }
  await done;
  return { longest, total: turn - start };
}
