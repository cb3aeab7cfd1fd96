import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createScheduler, type Scheduler, type TimerCallback, type TimerGroup, type TimerId } from 'shardwheel';
import { readMemory } from '../../engine/memory.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { CHUNK, each } from './random-timers.ts';

const LIVE = 1_000_000;
const PAIRS = 1_000_000;
const DELAY = 60_000;

/** What starts a timer, by subject. */
interface Starts {
  scheduleAfter<A>(hint: number, delay: number, callback: TimerCallback<A>, argument: A): TimerId;
}

/** A group for every four timers, as a proxy has for the timers of a connection. */
function inGroups(scheduler: Scheduler): Starts {
  const groups: TimerGroup[] = [];
  return {
    scheduleAfter: (hint, delay, callback, argument) => {
      const connection = hint >> 2;
      groups[connection] ??= scheduler.group(connection);
      return scheduler.scheduleAfter(groups[connection], delay, callback, argument);
    },
  };
}

const startsOf: Record<string, (scheduler: Scheduler) => Starts> = {
  plain: (scheduler) => scheduler,
  labelled: (scheduler) => scheduler.label('idle'),
  scaled: (scheduler) => scheduler.label('idle', { min: 1000 }),
  'in a group of one connection': inGroups,
};

/** (q) What it costs to know whose timers these are. */
export const labels: Suite = {
  name: 'steering labels',
  title: 'Labels, scaling and groups: what they cost',
  codes: ['q'],
  about:
    '1 M live on one shard, delays of 60 to 120 s: cancel and schedule, then move, a random timer, by scheduleAfter().',
  base: 'plain',
  subjects: Object.keys(startsOf).map((name) => ({ name })),
  figures: [
    { key: 'pair', title: 'event-loop CPU per cancel + schedule', unit: 'ns' },
    { key: 'move', title: 'per move', unit: 'ns' },
    { key: 'bytes', title: 'resident', unit: 'B/timer' },
  ],
  run: measure,
};

async function measure(name: string, scale: Scale): Promise<Measurement> {
  const live = scale.quick ? 4000 : LIVE;
  const scheduler = createScheduler({ shards: 1 });
  await scheduler.ready;
  const starts = startsOf[name](scheduler);
  const ids = new Float64Array(live);
  let fired = 0;
  const fire = (): void => {
    fired += 1;
  };
  const arm = (timer: number): void => {
    ids[timer] = starts.scheduleAfter(timer, DELAY + (timer % DELAY), fire, timer);
  };
  const before = readMemory().resident;
  for (let timer = 0; timer < live; timer++) {
    arm(timer);
    if (timer % CHUNK === 0) await nextTurn();
  }
  await sleep(scale.quick ? 20 : 500);
  const bytes = (readMemory().resident - before) / live;
  const pairs = scale.quick ? 4000 : PAIRS;
  const figures = {
    pair: await each(pairs, live, (timer) => {
      scheduler.cancel(ids[timer]);
      arm(timer);
    }),
    move: await each(pairs, live, (timer) => {
      scheduler.rescheduleAfter(ids[timer], DELAY + (timer % DELAY));
    }),
    bytes,
  };
  const { size } = scheduler;
  await scheduler.close();
  return { figures, checksums: { size, fired } };
}
