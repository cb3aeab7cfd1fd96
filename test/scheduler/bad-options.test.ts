import {
  createScheduler,
  InvalidArgumentError,
  InvalidConfigError,
  type SchedulerOptions,
  type ThreadOptions,
} from 'shardwheel';
import { expect, test } from 'vitest';
import { badValues } from '../fixtures/bad-values.ts';

/** By option: which of the bad values are good after all. */
const options: Record<keyof SchedulerOptions, (value: unknown) => boolean> = {
  shards: (value) => value === undefined,
  wheel: (value) => value === undefined,
  tick: (value) => value === undefined || value === 2.5 || value === 1e300 || value === 2 ** 53,
  capacity: (value) => value === undefined,
  clock: (value) => value === undefined,
  maxBatch: (value) => value === undefined,
  slack: (value) => value === undefined || value === 2.5,
  signal: (value) => value === undefined,
  asyncContext: (value) => value === undefined,
  thread: (value) => value === undefined || value instanceof Date,
};

const threadOptions: Record<keyof ThreadOptions, (value: unknown) => boolean> = {
  workerUrl: (value) => value === undefined,
  hangTimeout: (value) => value === undefined || value === Number.POSITIVE_INFINITY,
  inlineAfter: (value) => value === undefined,
  execArgv: (value) => value === undefined,
  // Objects that have nothing in them.
  env: (value) => value === undefined || value instanceof Date,
  resourceLimits: (value) => value === undefined || value instanceof Date,
};

/** The options with one of them, also in a group of options. */
function optionOf(name: string, value: unknown): object {
  const [group, member] = name.split('.');
  return member === undefined ? { [name]: value } : { [group]: { [member]: value } };
}

test('every option, every kind of value: refused with the value in the message, or it works', async () => {
  let cases = 0;
  const inThread = Object.entries(threadOptions).map(([name, isGood]) => [`thread.${name}`, isGood] as const);
  for (const [option, isGood] of [...Object.entries(options), ...inThread]) {
    for (const { name, value, shown } of badValues) {
      const what = `${option}: ${name}`;
      const build = () => createScheduler({ shards: 0, capacity: 16, ...optionOf(option, value) });
      if (isGood(value)) {
        await using scheduler = build();
        scheduler.cancel(scheduler.schedule(1, 5));
      } else {
        const refusal = option === 'signal' ? InvalidArgumentError : InvalidConfigError;
        expect(build, what).toThrow(refusal);
        // A wheel that is an object is refused for what is wrong within it.
        const isConfig =
          /^(wheel|thread|thread.inlineAfter|thread.resourceLimits|thread.env)$/.test(option) &&
          typeof value === 'object' &&
          value !== null;
        expect(build, what).toThrow(
          isConfig ? /, got / : `options.${option} must be`.replace('options.signal', 'The options.signal'),
        );
        if (!isConfig) expect(build, what).toThrow(`, got ${shown}`);
      }
      cases += 1;
    }
  }
  expect(cases).toBe((10 + 6) * 20);
});

test('options that are no object', () => {
  let cases = 0;
  for (const { value, shown } of badValues) {
    if (value === undefined || (typeof value === 'object' && value !== null)) continue;
    expect(() => createScheduler(value as never)).toThrow(InvalidArgumentError);
    expect(() => createScheduler(value as never)).toThrow(`The options must be an object, got ${shown}`);
    cases += 1;
  }
  expect(cases).toBe(15);
});

test('limits: the least and the most that is taken, and one beyond', async () => {
  const limits: [string, unknown[], unknown[]][] = [
    ['shards', [0], [-1, 1025]],
    ['capacity', [1, 2 ** 24], [0, 2 ** 24 + 1]],
    ['maxBatch', [1, 2 ** 24], [0, 2 ** 24 + 1]],
    ['tick', [0.001, 1e9], [0, -0, -1]],
    ['slack', [0, -0, 0.5, 2 ** 29, 2 ** 29 + 0.5], [-1, -Number.MIN_VALUE, 2 ** 29 + 1]],
    ['clock', ['manual', 'monotonic'], ['Manual', 'system']],
    ['wheel', ['default'], ['constructor', 'Default', {}]],
    ['thread.hangTimeout', [20, 2 ** 31 - 1, Number.POSITIVE_INFINITY], [19, 0, 2 ** 31]],
    ['thread.inlineAfter', [{ deaths: 1, within: 0.5 }], [{}, { deaths: 0, within: 1 }, { deaths: 1.5, within: 1 }]],
    [
      'thread.inlineAfter',
      [{ deaths: Number.POSITIVE_INFINITY, within: 1 }],
      [{ deaths: 2, within: 0 }, { deaths: 2 }],
    ],
    ['thread.resourceLimits', [{}, { stackSizeMb: 4 }], [{ stackSizeMb: 0 }, { stackSizeMb: '4' }, { heap: 4 }]],
  ];
  for (const [option, taken, refused] of limits) {
    for (const value of taken) await createScheduler({ shards: 0, capacity: 16, ...optionOf(option, value) }).close();
    for (const value of refused) {
      expect(() => createScheduler({ shards: 0, capacity: 16, ...optionOf(option, value) })).toThrow(
        InvalidConfigError,
      );
      expect(() => createScheduler({ shards: 0, capacity: 16, ...optionOf(option, value) })).toThrow(', got ');
    }
  }
  expect(limits.flatMap(([, taken, refused]) => [...taken, ...refused]).length).toBe(50);
});
