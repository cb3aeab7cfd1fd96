import { EventEmitter } from 'node:events';
import {
  connectScheduler,
  createScheduler,
  createTimers,
  HandleError,
  InvalidArgumentError,
  type MetricsError,
} from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { memoryStore, openDurableTimers } from 'shardwheel/durable';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';
import { useScheduler } from 'shardwheel/timers';
import { afterAll, expect, test } from 'vitest';
import { hostileValues } from '../fixtures/hostile-values.ts';
import { codes, type Place, places, promisedPlaces } from './argument-places.ts';
import { meter, optionTakers, registry } from './option-takers.ts';

const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 4096 });
scheduler.on('error', () => undefined);
afterAll(() => scheduler.close());

/** What the call throws, or its promise rejects with. */
async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

test('every argument of every call: a hostile value is taken, or refused with the code of any other', async () => {
  let refused = 0;
  const isTaken = ({ rule }: Place, value: unknown): boolean =>
    rule.error === undefined || (typeof value === 'function' && rule.isGood(() => undefined));
  for (const place of [...places, ...promisedPlaces]) {
    for (const [name, value] of hostileValues) {
      const what = `${place.name}: an argument ${name}`;
      // The names that the table makes of a value are its own business; and what is to be waited for has to be asked.
      if (/min\)|slack\)|\(work\)/.test(place.name)) continue;
      const live = scheduler.schedule('live', 1e9);
      const error = await errorOf(() => place.call(scheduler, value as never, live));
      if (!isTaken(place, value)) {
        expect(error, what).toBeInstanceOf(place.rule.error);
        expect(error, what).toMatchObject({ code: codes.get(place.rule.error) });
        expect((error as Error).message, what).toContain(', got ');
        refused += 1;
      } else expect(error, what).toBeUndefined();
      scheduler.cancelMany([...scheduler.liveTimers()].map(({ id }) => id as number));
      expect(scheduler.size, what).toBe(0);
    }
  }
  expect(refused).toBeGreaterThan(500);
});

const durable = await openDurableTimers({ store: memoryStore() });
afterAll(() => durable.close());

const takers = optionTakers(scheduler, durable);

/** What is no object, and what is none of which anything can be read. */
const noOptions: readonly unknown[] = [
  0,
  5,
  Number.NaN,
  '',
  'soon',
  Symbol('five'),
  5n,
  true,
  false,
  null,
  () => undefined,
  hostileValues.find(([name]) => name === 'a revoked proxy')?.[1],
];

test.each(Object.keys(takers))('%s refuses options that are no object, with a code', async (name) => {
  const isDefault = (value: unknown) => value === undefined;
  for (const value of noOptions.filter((each) => !isDefault(each))) {
    const error = await errorOf(() => takers[name](value as never));
    expect(error, `${name}: ${typeof value}`).toBeInstanceOf(Error);
    expect(error, `${name}: ${typeof value}`).toMatchObject({
      code: expect.stringMatching(/^ERR_INVALID_(ARG_TYPE|CONFIG)$/),
    });
    expect((error as Error).message).toContain(', got ');
  }
});

test.each(hostileValues)(
  'what is no scheduler, handle, registry, signal or date, but %s, is refused with a code',
  async (_, value) => {
    const given = value as never;
    const calls = [
      () => createTimers(given),
      () => useScheduler(given),
      () => registerMetrics(given),
      () => observeMetrics(given, meter),
      () => serveDashboard(given),
      () => observeMetrics(scheduler, given),
      () => createScheduler({ signal: given }),
      () => scheduler.sleep(5, { signal: given }),
      () => scheduler.signalAfter(5, { signal: given }),
      () => scheduler.sleep(5, { label: given }),
      () => scheduler.sleep(5, { workerHint: given }),
      () => createScheduler({ thread: { workerUrl: given } }),
      () => createScheduler({ shards: given }),
      () => durable.schedule('a', 'b', given),
      () => durable.schedule(given, 'b', 5),
      () => durable.handle('a', given as object as never),
    ];
    for (const call of calls.slice(0, typeof value === 'function' ? -1 : undefined)) {
      const error = await errorOf(call);
      expect(error, call.toString()).toMatchObject({ code: expect.stringMatching(/^ERR_INVALID_/) });
    }
    expect(() => connectScheduler(given)).toThrow(HandleError);
    expect(scheduler.size).toBe(0);
  },
);

test('cancelMany and scheduleMany of a length that is only said: refused at once, nothing is read', () => {
  const read: PropertyKey[] = [];
  const claiming = (length: number) =>
    new Proxy({ length }, { get: (target, name) => (name === 'length' ? target.length : read.push(name)) }) as never;
  for (const length of [2 ** 53 - 1, 2 ** 40, 2 ** 32, 2 ** 24 + 1]) {
    expect(() => scheduler.cancelMany(claiming(length))).toThrow(InvalidArgumentError);
    expect(() => scheduler.scheduleMany(claiming(length), claiming(length))).toThrow('at most 16777216 numbers');
  }
  expect(() => scheduler.cancelMany(new Array(2 ** 32 - 1))).toThrow('its length is 4294967295');
  expect(read).toEqual([]);
  expect(scheduler.cancelMany({ length: 1000 } as never)).toBe(0);
  expect(scheduler.size).toBe(0);
});

test('an array that grows while it is read gives as many elements as it had', () => {
  const id = scheduler.schedule('a', 1e9);
  const growing: number[] = [];
  Object.defineProperty(growing, '0', {
    get: () => {
      growing.push(id);
      return -1;
    },
  });
  expect(scheduler.cancelMany(growing)).toBe(0);
  expect(scheduler.cancel(id)).toBe(true);
});

test('what an emitter of the program throws is shown, whatever it is', async () => {
  for (const [, value] of hostileValues) {
    const refusing = Object.assign(new EventEmitter(), registry, {
      registerMetric: () => {
        throw value;
      },
    });
    const error = await errorOf(() => registerMetrics(scheduler, refusing));
    expect((error as MetricsError).code).toBe('ERR_METRICS_REFUSED');
    expect((error as MetricsError).cause === value).toBe(true);
  }
});
