import type { Suite } from '../suite.ts';
import type { Target } from '../target.ts';
import { BareLoops } from './bare-loops.ts';
import { fullTable } from './full-table.ts';
import { BARE, growthOf, INLINE, linearSuite, THREAD } from './linear-suite.ts';
import { burst, cancelAndRebuild, close, fire, NEAR_SPAN, scheduleAndPublish } from './operations.ts';

const ALL = [BARE, INLINE, THREAD];
const shardsOf = (subject: string): number => (subject === THREAD ? 1 : 0);

/** Loops whose memory has been written once, as it is when timers end. */
async function written(count: number): Promise<BareLoops> {
  const loops = new BareLoops(count);
  await loops.schedule();
  await loops.publish();
  return loops;
}

const publishing = linearSuite({
  name: 'linear publish',
  title: 'Linear: scheduling timers, and handing them to the shard',
  codes: ['L1'],
  about:
    'All are scheduled in one go, which is the event loop’s CPU; what the process takes beyond that until the shard ' +
    'has filed them all is their publication. The first 65,536 fit the command ring and are published on the way.',
  operations: ['publish', 'schedule'],
  subjects: ALL,
  async measure(subject, count) {
    if (subject !== BARE) return scheduleAndPublish(shardsOf(subject), count);
    const loops = new BareLoops(count);
    return { schedule: await loops.schedule(), publish: await loops.publish() };
  },
});

const cancelling = linearSuite({
  name: 'linear cancel',
  title: 'Linear: cancelling timers, and an index built anew from the table',
  codes: ['L2'],
  about: 'Cancelled in an order that no processor foresees. Before that an index is built as after a thread’s death.',
  operations: ['cancel', 'rebuild'],
  subjects: ALL,
  async measure(subject, count) {
    if (subject !== BARE) return cancelAndRebuild(shardsOf(subject), count);
    const loops = await written(count);
    return { rebuild: await loops.rebuild(), cancel: await loops.cancel() };
  },
});

const firing = linearSuite({
  name: 'linear fire',
  title: 'Linear: firing timers',
  codes: ['L3'],
  about: `Due within ${NEAR_SPAN} ms, all of them when the event loop comes to look; until the last callback has run.`,
  operations: ['fire'],
  subjects: ALL,
  async measure(subject, count) {
    if (subject !== BARE) return { fire: await fire(shardsOf(subject), count) };
    return { fire: await (await written(count)).fire(NEAR_SPAN) };
  },
});

const closing = linearSuite({
  name: 'linear close',
  title: 'Linear: closing a scheduler that holds timers',
  codes: ['L4'],
  about: 'close() hands back an object for each. The bare loop makes as many, of the same shape.',
  operations: ['close'],
  subjects: ALL,
  async measure(subject, count) {
    if (subject !== BARE) return { close: await close(shardsOf(subject), count) };
    return { close: await (await written(count)).close() };
  },
});

const bursting = linearSuite({
  name: 'linear burst',
  title: 'Linear: a burst before the thread is up',
  codes: ['L5'],
  about:
    'Scheduled in the turn in which the scheduler is made, until a thread has filed them all, less the CPU of starting ' +
    'one. The stall is the longest time for which the event loop did not turn, once all were scheduled.',
  operations: ['burst'],
  others: { stall: 'ms' },
  subjects: [THREAD],
  measure: (_subject, count) => burst(count),
});

export const linearSuites: readonly Suite[] = [publishing, cancelling, firing, closing, bursting, fullTable];

/** How much more a timer may cost among the most timers than among the fewest. */
const MOST_GROWTH = 1.3;

const targetsOf = ({ base, name, subjects }: Suite, ...operations: string[]): Target[] =>
  operations.flatMap((operation) =>
    subjects
      .filter((subject) => subject.name !== base)
      .flatMap(({ name: subject }): Target[] => {
        const target = { suite: name, subject, figure: growthOf(operation), most: MOST_GROWTH };
        const own = { ...target, title: `linear: ${operation}`, unit: '×', of: `${subject}, 2^23 / 2^18` };
        if (base === '') return [own];
        return [
          own,
          { ...target, title: `linear: ${operation}, by the control`, unit: '', of: `${subject} / ${base}` },
        ];
      }),
  );

export const linearTargets: readonly Target[] = [
  ...targetsOf(publishing, 'schedule', 'publish'),
  ...targetsOf(firing, 'fire'),
  ...targetsOf(cancelling, 'cancel', 'rebuild'),
  ...targetsOf(closing, 'close'),
  ...targetsOf(bursting, 'burst'),
];
