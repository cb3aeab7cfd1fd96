import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { below, read } from '../docs/documents.ts';
import { answeredStats } from '../fixtures/answered-stats.ts';
import { type ClientScope, ClientThread } from '../fixtures/client-thread.ts';
import { until } from '../fixtures/event-loop.ts';
import { type World, worlds } from '../fixtures/worlds.ts';

/** What came of a timer, and what is left of it. */
interface Outcome {
  /** What whoever waits was told, and what its outer signal brought about. */
  told: string[];
  /**
   * Timers, waiters, unref'd timers, listeners of the outer signal, of the label and the group; whether the process is
   * held.
   */
  left: unknown[];
  /** Of what `close` handed back: whether it is settled. */
  isSettled?: boolean;
}

const kinds = [
  'callback',
  'batch',
  'repeating',
  'sleep',
  'withTimeout(promise)',
  'withTimeout(function)',
  'withTimeout without a limit',
  'signalAfter',
  'drop-in',
  'drop-in promise',
  'drop-in interval of promises',
] as const;
type Kind = (typeof kinds)[number];

const ways = ['delivered', 'cancel', 'cancelMany', 'cancelAnywhere', 'with its group', 'handed back'] as const;
type Way = (typeof ways)[number];

/**
 * Starts one timer of each of the kinds, ends them in one way, and says what has come of them. Its text runs in the
 * client's thread.
 */
async function endAll(scope: ClientScope, kinds: Kind[], way: Way | 'by others'): Promise<Record<string, Outcome>> {
  const { scheduler, internals, timers } = scope;
  const { client } = internals();
  const { getEventListeners } = process.getBuiltinModule('node:events');
  const DELAY = way === 'delivered' ? 5 : 60_000;
  const label = scheduler.label('endings');
  const isClosing = way === 'handed back';
  const all = kinds.map((kind) => {
    const told: string[] = [];
    const outer = new AbortController();
    const group = scheduler.group(kind);
    const options = { workerHint: group, signal: outer.signal, label };
    const never = new Promise<never>(() => {});
    const heard = (promise: Promise<unknown>) =>
      promise.then(
        () => void told.push('resolved'),
        (error) => void told.push(error.code),
      );
    const onAbort = (name: string) => (signal: AbortSignal) => {
      signal.addEventListener('abort', () => told.push(`${name} aborted: ${signal.reason.code}`));
      return never;
    };
    const start: Record<Kind, () => unknown> = {
      callback: () => label.scheduleAfter(group, DELAY, (argument: string) => told.push(argument), 'called'),
      batch: () => {
        scheduler.on('fired', ({ args }) => args.includes(told) && told.push('in a batch'));
        label.scheduleAfter(group, DELAY, undefined, told);
      },
      repeating: () =>
        label.scheduleEvery(group, DELAY, (_: undefined, id) => told.push(`called, ends: ${scheduler.cancel(id)}`)),
      sleep: () => heard(scheduler.sleep(DELAY, options)),
      'withTimeout(promise)': () => heard(scheduler.withTimeout(never, DELAY, options)),
      'withTimeout(function)': () => heard(scheduler.withTimeout(onAbort('work'), DELAY, options)),
      'withTimeout without a limit': () => {
        const work = way === 'delivered' ? Promise.resolve() : never;
        void heard(scheduler.withTimeout(work, Number.POSITIVE_INFINITY, options));
      },
      signalAfter: () => onAbort('signal')(scheduler.signalAfter(DELAY, options)),
      'drop-in': () => timers().setTimeout(() => told.push('called'), DELAY),
      'drop-in promise': () => heard(timers().promises.setTimeout(DELAY, undefined, { signal: outer.signal })),
      'drop-in interval of promises': () =>
        heard(
          (async () => {
            for await (const _ of timers().promises.setInterval(DELAY, undefined, { signal: outer.signal })) return;
          })(),
        ),
    };
    start[kind]();
    return { kind, told, outer, group };
  });
  const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await pass(1);
  const live = [...scheduler.liveTimers()];
  const ids = live.flatMap(({ id }) => id ?? []);
  for (const { id, argument } of live)
    if (id === undefined && !isClosing && way !== 'delivered') (argument as { close(): void }).close();
  switch (way) {
    case 'cancel':
      for (const id of ids) scheduler.cancel(id);
      break;
    case 'cancelMany':
      scheduler.cancelMany(ids);
      break;
    case 'cancelAnywhere':
      for (const id of ids) await scheduler.cancelAnywhere(id);
      break;
    case 'with its group':
      for (const { group } of all) group.cancelAll();
      break;
    case 'by others':
      (globalThis as { endingIds?: number[] }).endingIds = ids;
      while (ids.some((id) => scheduler.has(id))) await pass(1);
      break;
  }
  const unfired = isClosing ? await scheduler.close() : [];
  const isOver = ({ told, kind }: { told: string[]; kind: Kind }) =>
    told.length > 0 || (isClosing && kind === 'signalAfter');
  for (let waited = 0; waited < 20_000 && way === 'delivered' && !all.every(isOver); waited += 5) await pass(5);
  await pass(1);
  const before = all.map(({ told }) => told.length);
  for (const { outer } of all) outer.abort({ code: 'outer' });
  await pass(1);
  return Object.fromEntries(
    all.map(({ kind, told, outer, group }, i) => {
      const after = told.slice(before[i]).map((text) => `then: ${text}`);
      const listeners = getEventListeners(outer.signal, 'abort').length;
      const { refs, waiters } = client;
      const held = isClosing ? refs.isHolding : refs.isHolding || refs.unrefCount !== 0;
      const left = [scheduler.size, waiters, listeners, label.size, group.size, held];
      const settled = unfired.find(
        ({ argument }) =>
          typeof argument === 'object' && (argument as { call?: string } | null)?.call === kind.split('(')[0],
      );
      return [kind, { told: [...told.slice(0, before[i]), ...after], left, isSettled: settled?.isSettled }];
    }),
  );
}

const nothing = [0, 0, 0, 0, 0, false];

/** What whoever waits hears, by kind: when it is delivered, cancelled by id or with its group, handed back. */
const heard: Record<Kind, [delivered: string[], cancelled: string[], handedBack: string[]]> = {
  callback: [['called'], [], []],
  batch: [['in a batch'], [], []],
  repeating: [['called, ends: true'], [], []],
  sleep: [['resolved'], ['ABORT_ERR'], ['ERR_SCHEDULER_CLOSED']],
  'withTimeout(promise)': [['ERR_TIMEOUT'], ['ABORT_ERR'], ['ERR_SCHEDULER_CLOSED']],
  'withTimeout(function)': [
    ['work aborted: ERR_TIMEOUT', 'ERR_TIMEOUT'],
    ['work aborted: ABORT_ERR', 'ABORT_ERR'],
    ['work aborted: ERR_SCHEDULER_CLOSED', 'ERR_SCHEDULER_CLOSED'],
  ],
  'withTimeout without a limit': [['resolved'], ['ABORT_ERR'], ['ERR_SCHEDULER_CLOSED']],
  signalAfter: [['signal aborted: ERR_TIMEOUT'], ['signal aborted: ABORT_ERR'], []],
  'drop-in': [['called'], [], []],
  'drop-in promise': [['resolved'], ['ABORT_ERR'], ['ERR_SCHEDULER_CLOSED']],
  'drop-in interval of promises': [['resolved'], ['ABORT_ERR'], ['ERR_SCHEDULER_CLOSED']],
};

async function inWorld<T>(
  { shards, isConnected }: World,
  use: (client: ClientThread, owner: Scheduler | undefined) => Promise<T>,
): Promise<T> {
  await using owner = isConnected ? createScheduler({ shards }) : undefined;
  await using client = owner ? ClientThread.connect(owner.share()) : ClientThread.own({ shards });
  await client.run(({ scheduler }) => scheduler.ready);
  return await use(client, owner);
}

describe.each(worlds)(
  '▲ however a timer ends, whoever waits for it hears of it, and nothing outlives it: $name',
  (world) => {
    test.each(ways)('%s', async (way) => {
      const outcomes = await inWorld(world, (client) => client.run(endAll, [...kinds], way));
      for (const kind of kinds) {
        const [delivered, cancelled, handedBack] = heard[kind];
        const expected = way === 'delivered' ? delivered : way === 'handed back' ? handedBack : cancelled;
        expect(outcomes[kind], `${kind}, ${way}`).toMatchObject({ told: expected, left: nothing });
      }
      if (way !== 'handed back') return;
      expect(outcomes.sleep.isSettled).toBe(true);
      expect(outcomes['withTimeout(promise)'].isSettled).toBe(true);
      expect(outcomes.signalAfter.isSettled).toBe(false);
    });
  },
);

describe.each(worlds.filter(({ isConnected }) => isConnected))('▲ another client ends them: $name', (world) => {
  test('cancelAnywhere() of the owner', () =>
    inWorld(world, async (client, owner) => {
      const laned = kinds.filter((kind) => !kind.startsWith('drop-in'));
      const ended = client.run(endAll, laned, 'by others');
      const idsOf = () => client.run(() => (globalThis as { endingIds?: number[] }).endingIds ?? []);
      let ids: number[] = [];
      await until(async () => {
        ids = await idsOf();
        return ids.length > 0;
      });
      for (const id of ids) expect(await owner?.cancelAnywhere(id)).toBe(true);
      const outcomes = await ended;
      for (const kind of laned) expect(outcomes[kind], kind).toMatchObject({ told: heard[kind][1], left: nothing });
    }));

  test('they are lost with their thread, and with them all that is counted of them', () =>
    inWorld(world, async (client, owner) => {
      await client.run(({ scheduler }) => {
        for (let i = 0; i < 100; i++) {
          scheduler.sleep(60_000).catch(() => undefined);
          scheduler.signalAfter(60_000);
          scheduler.scheduleEvery(i, 60_000);
        }
      });
      expect((await answeredStats(owner!)).clients.map(({ size }) => size)).toEqual([0, 300]);
      await client.worker.terminate();
      await until(async () => (await owner?.stats())?.clients.length === 1);
      expect((await owner?.stats())?.size).toBe(0);
    }));
});

/** Who waits, as the table in docs/guarantees.md names the kinds; that of durable timers is in test/durable. */
const rows: Record<string, Kind> = {
  'a callback': 'callback',
  "a listener for `'fired'`": 'batch',
  'the callback of `scheduleEvery`': 'repeating',
  '`sleep`': 'sleep',
  '`withTimeout` of a promise': 'withTimeout(promise)',
  '`withTimeout` of a function': 'withTimeout(function)',
  '`withTimeout` with `Infinity`': 'withTimeout without a limit',
  'a signal of `signalAfter`': 'signalAfter',
  'a drop-in `setTimeout`': 'drop-in',
  'a drop-in promise': 'drop-in promise',
  'a drop-in interval of promises': 'drop-in interval of promises',
};

/** What was heard, in the words of the table. */
function inWords(told: string[], kind: Kind): string {
  const errors: Record<string, string> = {
    ABORT_ERR: '`AbortError`',
    ERR_TIMEOUT: '`TimeoutError`',
    ERR_SCHEDULER_CLOSED: '`SchedulerClosedError`',
  };
  const last = told.at(-1);
  if (last === undefined) return 'hears nothing';
  if (last === 'in a batch') return 'gets it in a batch';
  if (last.startsWith('called')) return 'is called';
  if (last === 'resolved') return kind === 'withTimeout without a limit' ? 'waits for the work' : 'resolves';
  const code = last.replace('signal aborted: ', '');
  return `${last === code ? 'rejects' : 'aborts'} with ${errors[code]}${told.length > 1 ? '; so does its signal abort' : ''}`;
}

test('▲ the table in docs/guarantees.md says what each kind hears, as above', () => {
  const table = below('## However a timer ends', read('docs/guarantees.md')) ?? '';
  const cells = [...table.matchAll(/^\| (.*) \|$/gm)].map(([, row]) => row.split(' | ')).slice(1);
  const told = Object.fromEntries(cells.map(([who, ...ways]) => [who, ways]));
  expect(Object.keys(told).slice(0, -1)).toEqual(Object.keys(rows));
  expect(Object.values(rows)).toEqual([...kinds]);
  for (const [who, kind] of Object.entries(rows)) {
    const [delivered, cancelled, handedBack] = heard[kind].map((heard) => inWords(heard, kind));
    const withGroup = kind.startsWith('drop-in') ? '–' : cancelled;
    const starts = [delivered, cancelled, withGroup, handedBack];
    const lengths = starts.map(({ length }) => length);
    expect(
      told[who].map((cell, at) => cell.slice(0, lengths[at])),
      who,
    ).toEqual(starts);
    const settled = ['sleep', 'withTimeout'].includes(kind.split(/[( ]/)[0]);
    expect(told[who][3].includes('`isSettled` in the list'), who).toBe(settled);
  }
});
