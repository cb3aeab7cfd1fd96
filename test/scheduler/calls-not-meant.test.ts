import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { createNoopMeter } from '@opentelemetry/api';
import { createScheduler, createTimers, InvalidArgumentError, InvalidConfigError } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { memoryStore, openDurableTimers } from 'shardwheel/durable';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';
import { useScheduler } from 'shardwheel/timers';
import { afterAll, describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { manual } from './manual.ts';

/** Runs a module that may use `scheduler`, with a manual clock; answers with the codes of what it has warned of. */
async function warnings(text: string): Promise<string[]> {
  const { code, stdout, stderr } = await runText(`
    import { createScheduler } from 'shardwheel';
    import { memoryStore, openDurableTimers } from 'shardwheel/durable';
    process.removeAllListeners('warning');
    process.on('warning', ({ code, name, message }) => console.log([name, code, message].join(' ')));
    const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 64 });
    ${text}`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trim() === '' ? [] : stdout.trim().split('\n');
}

describe.concurrent('▲ calls that cannot be meant: one warning per kind', () => {
  test("a timer without a callback falls due, and nobody listens to 'fired'", async () => {
    expect(
      await warnings(`
        for (let i = 1; i <= 9; i++) scheduler.schedule(1, i < 4 ? 10 : 10 * i);
        for (let now = 10; now <= 100; now += 10) await scheduler.advanceTo(now);
        const other = createScheduler({ shards: 0, clock: 'manual', capacity: 64 });
        other.schedule(1, 5);
        await other.advanceTo(10);`),
    ).toEqual([
      'ShardwheelWarning SHARDWHEEL_UNHEARD 3 timers that were started without a callback have fallen due, and nobody ' +
        "listens to 'fired'. Give schedule() a callback, or listen: scheduler.on('fired', ({ length, ids, args }) => …)",
    ]);
  });

  test('but not where somebody listens, or each has a callback', async () => {
    expect(
      await warnings(`
        scheduler.schedule(1, 10, () => undefined);
        await scheduler.advanceTo(20);
        scheduler.on('fired', () => undefined);
        scheduler.schedule(1, 30);
        scheduler.sleep(10);
        await scheduler.advanceTo(40);`),
    ).toEqual([]);
  });

  test('a date that lies more than ten years back', async () => {
    const told = await warnings(`
      const nothing = () => undefined;
      const id = scheduler.schedule(1, 2 ** 40, nothing);
      const year = 366 * 24 * 3_600_000;
      scheduler.scheduleAt(1, Date.now() - 9 * year, nothing);
      scheduler.scheduleAt(1, new Date(Date.now() - 1000), nothing);
      console.log('so far none');
      scheduler.scheduleAt(1, Math.round(Date.now() / 1000), nothing); // seconds
      scheduler.rescheduleAt(id, 60_000); // a delay
      scheduler.group(1).scheduleAt(new Date(0), nothing);
      scheduler.close();`);
    expect(told[0]).toBe('so far none');
    expect(told.slice(1)).toEqual([
      expect.stringMatching(/^ShardwheelWarning SHARDWHEEL_PAST_DATE The date \d{10} lies more than ten years back, /),
    ]);
  });

  test("a date of durable timers' schedule", async () => {
    expect(
      await warnings(`
        const durable = await openDurableTimers({ store: memoryStore() });
        await durable.schedule('a', 'b', 60_000);
        await durable.reschedule('a', 'b', 60_000);
        await durable.close();`),
    ).toEqual([expect.stringMatching(/SHARDWHEEL_PAST_DATE The date 60000 lies more than ten years back/)]);
  });

  test('scheduleEvery with an object as argument that has only names of its options', async () => {
    const told = await warnings(`
      const every = (...rest) => scheduler.scheduleEvery(1, 5, () => undefined, ...rest);
      for (const argument of [undefined, {}, { first: 5, name: 'a' }, [5], 'first', { name: 'first' }, null]) every(argument);
      every({ first: 5 }, {});
      every({ first: 5 }, { first: 5 });
      const keys = [];
      const { proxy, revoke } = Proxy.revocable({ first: 5 }, { get: () => keys.push(1), ownKeys: () => keys.push(1) });
      every(proxy);
      revoke();
      every(proxy);
      every(new Proxy({ first: 5 }, { ownKeys: () => { throw new Error('looked into'); } }));
      console.log('so far none', keys.length);
      scheduler.label('beat').scheduleEvery(1, 5, () => undefined, { missedCalls: 'burst', first: 0 });
      every({ first: 5 });
      scheduler.group(1).scheduleEvery(5, () => undefined, { first: 5 });
      scheduler.close();`);
    expect(told[0]).toBe('so far none 0');
    expect(told.slice(1)).toEqual([
      expect.stringMatching(
        /SHARDWHEEL_OPTIONS_AS_ARGUMENT .*\{ missedCalls: 'burst', first: 0 \}.*options come after/,
      ),
    ]);
  });

  test('what has been told is not shown again: an argument may be large', async () => {
    const told = await warnings(`
        let shown = 0;
        class First {
          first = 5;
          [Symbol.for('nodejs.util.inspect.custom')]() {
            shown += 1;
            return 'First';
          }
        }
        for (let i = 0; i < 9; i++) scheduler.scheduleEvery(1, 10, () => undefined, new First());
        await new Promise(setImmediate);
        console.log(shown);
        scheduler.close();`);
    expect(told).toEqual([expect.stringContaining('SHARDWHEEL_OPTIONS_AS_ARGUMENT'), '1']);
  });
});

describe('▲ what is a date', () => {
  const time = Date.now() + 3_600_000;
  const ofRealm = runInContext(`new Date(${time})`, createContext({})) as Date;
  const overridden = Object.assign(new Date(time), { getTime: (): number => 5 });
  const dates: [string, unknown][] = [
    ['a number', time],
    ['a Date', new Date(time)],
    ['a Date of another realm', ofRealm],
    ['a Date whose getTime says something else', overridden],
    ["a Temporal.Instant's likeness", { epochMilliseconds: time }],
    [
      'with a getter, as Temporal has it',
      new (class {
        get epochMilliseconds() {
          return time;
        }
      })(),
    ],
  ];

  test.each(dates)('%s', async (_, date) => {
    await using scheduler = createScheduler({ shards: 0 });
    const given = date as Date;
    const ids = [
      scheduler.scheduleAt(1, given),
      scheduler.label('a').scheduleAt(1, given),
      scheduler.group(1).scheduleAt(given),
      scheduler.scheduleAfter(1, 5),
    ];
    expect(scheduler.rescheduleAt(ids[3], given)).toBe(true);
    for (const id of ids) {
      const delay = (scheduler.deadlineOf(id) as number) - scheduler.now();
      expect(Math.abs(delay - 3_600_000)).toBeLessThan(600_000); // whatever else this machine does
    }
    const durable = await openDurableTimers({ store: memoryStore(), scheduler });
    await durable.schedule('a', 'b', given);
    expect((await durable.get('a', 'b'))?.deadline).toBe(time);
    await durable.reschedule('a', 'b', given);
    await durable.close();
  });

  test.each([
    [new Date(Number.NaN)],
    [{ epochMilliseconds: '5' }],
    [{ epochMilliseconds: 5n }],
    [{ epochMilliseconds: Number.NaN }],
    [{ getTime: (): number => 5 }],
    ['2030-01-01'],
  ] as const satisfies unknown[][])('%o is none', async (date: unknown) => {
    await using scheduler = createScheduler({ shards: 0 });
    const code = { code: 'ERR_INVALID_DEADLINE' };
    expect(() => scheduler.scheduleAt(1, date as never)).toThrow(expect.objectContaining(code));
    await using durable = await openDurableTimers({ store: memoryStore() });
    await expect(durable.schedule('a', 'b', date as never)).rejects.toMatchObject(code);
  });
});

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The built package, copied: as an application has it whose dependency has brought its own. */
async function otherCopy(): Promise<typeof import('shardwheel')> {
  const folder = join(root, 'dist', `copy-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, 'lib'), join(folder, 'lib'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  return import(pathToFileURL(join(folder, 'lib/index.js')).href);
}

describe('▲ two copies of the package', async () => {
  const copy = await otherCopy();
  const theirs = copy.createScheduler({ shards: 0, clock: 'manual' });
  const ours = await manual({ shards: 0 });
  afterAll(() => Promise.all([theirs.close(), ours.close()]));
  const label = theirs.label('a');
  const group = theirs.group('a');

  const refused: [string, () => unknown][] = [
    ['a scheduler, by createTimers', () => createTimers(theirs)],
    ['a scheduler, by useScheduler', () => useScheduler(theirs)],
    ['a scheduler, by registerMetrics', () => registerMetrics(theirs)],
    ['a scheduler, by observeMetrics', () => observeMetrics(theirs, createNoopMeter())],
    ['a scheduler, by serveDashboard', () => serveDashboard(theirs, { port: 0 })],
    ['a scheduler, by openDurableTimers', () => openDurableTimers({ store: memoryStore(), scheduler: theirs })],
    ['a label', () => ours.sleep(5, { label })],
    ['a label, of a signal', () => ours.signalAfter(5, { label })],
    ['a group', () => ours.schedule(group as never, 5)],
    ['a group, of a wait', () => ours.sleep(5, { workerHint: group as never })],
    ['a group, of its shard', () => ours.shardOf(group as never)],
  ];
  test.each(refused)('%s is refused by an error that says so', async (_, call) => {
    const error: unknown = await (async () => call())().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect((error as Error).message).toContain(
      'must be made by the same copy of shardwheel: another copy has made this one',
    );
    expect(ours.size).toBe(0);
  });

  test('the same the other way round; and what is of no copy is told as before', () => {
    expect(() => copy.createTimers(ours)).toThrow('another copy has made this one');
    expect(() => ours.schedule({} as never, 5)).toThrow('must be a finite number, a string or a group');
    expect(() => createTimers({} as never)).toThrow('must be a Scheduler');
    const proxy = new Proxy(theirs, { getPrototypeOf: () => expect.fail('looked into') });
    expect(() => createTimers(proxy)).toThrow('must be a Scheduler');
    const others = createScheduler({ shards: 0, clock: 'manual' });
    expect(() => ours.schedule(others.group(1), 5)).toThrow('a group of this scheduler');
  });

  test('docs/install.md quotes what is said', () => {
    const said =
      'The scheduler must be made by the same copy of shardwheel: another copy has made this one (npm ls shardwheel';
    expect(() => createTimers(theirs)).toThrow(said);
    expect(readFileSync(join(root, 'docs/install.md'), 'utf8')).toContain(`\n    ${said}`);
  });

  test('importing a copy changes nothing that a program can see', async () => {
    const { stdout } = await runText(`
      const before = Reflect.ownKeys(globalThis).length;
      const { createScheduler } = await import('shardwheel');
      console.log(Reflect.ownKeys(globalThis).length - before);
      createScheduler({ shards: 0 });
      console.log(Object.keys(globalThis).filter((name) => /shardwheel/.test(name)).length);`);
    expect(stdout).toBe('0\n0\n');
  });
});

describe("▲ an option's near miss is answered with the option that was meant", () => {
  const scheduler = createScheduler({ shards: 0, clock: 'manual' });
  afterAll(() => scheduler.close());
  const misses: [wrong: string, meant: string, (options: never) => unknown][] = [
    ['threads', 'shards', createScheduler],
    ['workers', 'shards', createScheduler],
    ['maxWorkers', 'shards', createScheduler],
    ['maxTimers', 'capacity', createScheduler],
    ['precision', 'tick', createScheduler],
    ['resolution', 'tick', createScheduler],
    ['tolerance', 'slack', createScheduler],
    ['abortSignal', 'signal', createScheduler],
    ['asynccontext', 'asyncContext', createScheduler],
    ['hint', 'workerHint', (options) => scheduler.signalAfter(5, options)],
    ['minimum', 'min', (options) => scheduler.label('a', options)],
    ['unref', 'ref', (options) => scheduler.label('a', options)],
    ['initialDelay', 'first', (options) => scheduler.scheduleEvery(1, 5, undefined, undefined, options)],
    ['missed', 'missedCalls', (options) => scheduler.scheduleEvery(1, 5, undefined, undefined, options)],
  ];
  test.each(misses)('%s: %s', (wrong, meant, call) => {
    expect(() => call({ [wrong]: 5 } as never)).toThrow(InvalidConfigError);
    expect(() => call({ [wrong]: 5 } as never)).toThrow(`options.${wrong} is not an option: did you mean '${meant}'?`);
  });

  test('of setScale and the dashboard', async () => {
    const label = scheduler.label('scaled', { min: 5 });
    await expect(label.setScale(1, { global: true } as never)).rejects.toThrow("did you mean 'everywhere'?");
    await expect(serveDashboard(scheduler, { hostname: 'a' } as never)).rejects.toThrow("did you mean 'host'?");
    expect(() => createScheduler({ colour: 5 } as never)).toThrow('is not an option: there are ');
  });

  test("a name that is nobody's for its length is not shown whole", () => {
    const name = 'shards'.repeat(100_000);
    expect(() => createScheduler({ [name]: 5 } as never)).toThrow(
      /^options\.(shards){10}shar… is not an option: there are \w+, /,
    );
  });
});
