import {
  connectScheduler,
  createScheduler,
  createTimers,
  InvalidArgumentError,
  InvalidConfigError,
  RenamedError,
  type SchedulerOptions,
  type ThreadOptions,
} from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { describe, expect, test } from 'vitest';
import { badValues } from '../fixtures/bad-values.ts';

const manual = () => createScheduler({ shards: 0, capacity: 64, clock: 'manual' });
/** A scheduler with one option, also of a group of options. */
function withOption(name: string, value: unknown) {
  const [group, member] = name.split('.');
  const option = member === undefined ? { [name]: value } : { [group]: { [member]: value } };
  return createScheduler({ shards: 0, capacity: 16, ...option });
}

const isUndefined = (value: unknown) => value === undefined;
/** What has nothing in it is an empty group of options. */
const isEmpty = (value: unknown) => value === undefined || value instanceof Date;

/** By option: which of the bad values are good after all. */
const options: Record<keyof SchedulerOptions, (value: unknown) => boolean> = {
  shards: isUndefined,
  wheel: isUndefined,
  tick: (value) => value === undefined || value === 2.5 || value === 1e300 || value === 2 ** 53,
  capacity: isUndefined,
  clock: isUndefined,
  maxBatch: isUndefined,
  slack: (value) => value === undefined || value === 2.5,
  ioFirst: (value) => value === undefined || (typeof value === 'number' && value >= 0),
  signal: isUndefined,
  asyncContext: isUndefined,
  thread: isEmpty,
};

const threadOptions: Record<keyof ThreadOptions, (value: unknown) => boolean> = {
  workerUrl: isUndefined,
  hangTimeout: (value) => value === undefined || value === Number.POSITIVE_INFINITY,
  inlineAfter: isUndefined,
  execArgv: isUndefined,
  env: isEmpty,
  resourceLimits: isEmpty,
};

test('every option, every kind of value: refused with the value in the message, or it works', async () => {
  let cases = 0;
  const inThread = Object.entries(threadOptions).map(([name, isGood]) => [`thread.${name}`, isGood] as const);
  for (const [option, isGood] of [...Object.entries(options), ...inThread]) {
    for (const { name, value, shown } of badValues) {
      const what = `${option}: ${name}`;
      const build = () => withOption(option, value);
      if (isGood(value)) {
        await using scheduler = build();
        scheduler.cancel(scheduler.schedule(1, 5));
      } else {
        expect(build, what).toThrow(option === 'signal' ? InvalidArgumentError : InvalidConfigError);
        // A wheel that is an object is refused for what is wrong within it.
        const isConfig =
          /^(wheel|thread|thread.inlineAfter|thread.resourceLimits|thread.env)$/.test(option) &&
          typeof value === 'object' &&
          value !== null;
        expect(build, what).toThrow(isConfig ? ', got ' : `options.${option} must be`);
        if (!isConfig) expect(build, what).toThrow(`, got ${shown}`);
      }
      cases += 1;
    }
  }
  expect(cases).toBe((11 + 6) * 20);
});

test('options that are no object', () => {
  const values = badValues.filter(({ value }) => value === null || !['object', 'undefined'].includes(typeof value));
  for (const { value, shown } of values) {
    expect(() => createScheduler(value as never)).toThrow(InvalidArgumentError);
    expect(() => createScheduler(value as never)).toThrow(`The options must be an object, got ${shown}`);
  }
  expect(values.length).toBe(15);
});

test.each<[option: string, taken: unknown[], refused: unknown[]]>([
  ['shards', [0], [-1, 1025]],
  ['capacity', [1, 2 ** 24], [0, 2 ** 24 + 1]],
  ['maxBatch', [1, 2 ** 24], [0, 2 ** 24 + 1]],
  ['tick', [0.001, 1e9], [0, -0, -1]],
  ['slack', [0, -0, 0.5, 2 ** 29, 2 ** 29 + 0.5], [-1, -Number.MIN_VALUE, 2 ** 29 + 1]],
  ['ioFirst', [0, -0, 0.5, 1e9, Number.POSITIVE_INFINITY], [-1, -Number.MIN_VALUE, Number.NaN, '8', null]],
  ['clock', ['manual', 'monotonic'], ['Manual', 'system']],
  ['wheel', ['default'], ['constructor', 'Default', {}]],
  ['thread.hangTimeout', [20, 2 ** 31 - 1, Number.POSITIVE_INFINITY], [19, 0, 2 ** 31]],
  ['thread.inlineAfter', [{ deaths: 1, within: 0.5 }], [{}, { deaths: 0, within: 1 }, { deaths: 1.5, within: 1 }]],
  ['thread.inlineAfter', [{ deaths: Number.POSITIVE_INFINITY, within: 1 }], [{ deaths: 2, within: 0 }, { deaths: 2 }]],
  ['thread.resourceLimits', [{}, { stackSizeMb: 4 }], [{ stackSizeMb: 0 }, { stackSizeMb: '4' }, { heap: 4 }]],
])('the least and the most that %s takes, and one beyond', async (option, taken, refused) => {
  for (const value of taken) await withOption(option, value).close();
  for (const value of refused) {
    expect(() => withOption(option, value)).toThrow(InvalidConfigError);
    expect(() => withOption(option, value)).toThrow(', got ');
  }
});

test('the slack that can be had is counted in ticks', () => {
  const message = 'options.slack must be ms from 0 to 134217728, got 268435456';
  expect(() => createScheduler({ shards: 0, tick: 0.25, slack: 2 ** 28 })).toThrow(message);
});

test.each([
  ['createScheduler', 'options.shard', "did you mean 'shards'?", () => createScheduler({ shard: 2 } as never)],
  ['createScheduler', 'options.maxbatch', "did you mean 'maxBatch'?", () => createScheduler({ maxbatch: 2 } as never)],
  ['createScheduler', 'options.threads', "did you mean 'shards'?", () => createScheduler({ threads: 2 } as never)],
  ['label', 'options.mim', "did you mean 'min'?", () => manual().label('a', { mim: 2 } as never)],
  ['signalAfter', 'options.workerhint', "'workerHint'?", () => manual().signalAfter(5, { workerhint: 2 } as never)],
  ['createTimers', 'options.longDelay', "'longDelays'?", () => createTimers(manual(), { longDelay: 'x' } as never)],
])('%s refuses an option that there is not, with the name that was meant: %s', (_, name, remedy, call) => {
  expect(call).toThrow(InvalidConfigError);
  expect(call).toThrow(`${name} is not an option`);
  expect(call).toThrow(remedy);
});

test('so do the calls that return promises', async () => {
  await using scheduler = manual();
  const wait = scheduler.withTimeout(Promise.resolve(), 5, { signl: undefined, labl: 5 } as never);
  await expect(wait).rejects.toThrow("options.labl is not an option: did you mean 'label'?, got 5");
  await expect(serveDashboard(scheduler, { Port: 0 } as never)).rejects.toThrow("did you mean 'port'?");
});

/** What a program of the names before 1.0 does, and the new name that its error tells. */
const renamedCalls: [name: string, now: string][] = [
  ['timeout', 'scheduler.withTimeout(work, delay, options)'],
  ['timers', 'scheduler.liveTimers()'],
  ['interval', 'scheduler.statsInterval()'],
  ['setScale', 'scheduler.label(name, { min }).setScale(factor)'],
  ['withSlack', 'scheduler.label(name, { slack })'],
  ['callSites', 'npx shardwheel profile'],
];

const renamedOptions: [name: string, now: string][] = [
  ...Object.keys(threadOptions).map((name): [string, string] => [name, `options.thread.${name}`]),
  ['totalCapacity', 'options.capacity'],
  ['trace', 'npx shardwheel profile'],
];

describe('a name of before is answered by an error that tells the new one', () => {
  test.each(renamedCalls)('scheduler.%s()', async (name, now) => {
    await using scheduler = manual();
    const call = () => (scheduler as unknown as Record<string, () => unknown>)[name]();
    expect(call).toThrow(RenamedError);
    expect(call).toThrow(`scheduler.${name}() is no more: use `);
    expect(call).toThrow(now);
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_RENAMED' }));
    for (const seen in scheduler) expect(seen).not.toBe(name);
  });

  test.each(renamedOptions)('options.%s', (name, now) => {
    const call = () => createScheduler({ shards: 0, [name]: 5 });
    expect(call).toThrow(InvalidConfigError);
    expect(call).toThrow(`options.${name} is no option any more: `);
    expect(call).toThrow(now);
  });

  test('of a label; options of waits and of connecting', async () => {
    await using scheduler = manual();
    const label = scheduler.label('idle') as unknown as { group(hint: number): unknown; label: string };
    expect(() => label.group(1)).toThrow(/label.group\(\) is no more: .* label.schedule\(scheduler.group\(hint\)/);
    expect(() => label.label).toThrow('label.label is no more: use label.name');
    const slack = { slack: 5 } as never;
    await expect(scheduler.withTimeout(Promise.resolve(), 5, slack)).rejects.toThrow('use options.label');
    expect(() => scheduler.signalAfter(5, slack)).toThrow('options.slack is no option any more: use options.label');
    expect(() => connectScheduler(scheduler.share(), { totalCapacity: 5 } as never)).toThrow('use options.capacity');
  });
});
