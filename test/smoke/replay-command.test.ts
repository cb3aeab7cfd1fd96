import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UsageError } from '../../bench/replay/command-line.ts';
import type { ReplayRun } from '../../bench/replay/fork-replay.ts';
import type { Verdict } from '../../bench/replay/ledger.ts';
import { parseOptions, type ReplayOptions, usualLoops } from '../../bench/replay/options.ts';
import { type ColumnName, replayColumns } from '../../bench/replay/replay-columns.ts';
import { replayCommand } from '../../bench/replay/replay-command.ts';
import type { ReplayResult, SubjectName } from '../../bench/replay/replay-result.ts';
import { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';

const columnsOf = (flags: string) => replayColumns(parseOptions(flags.split(' '))!);

describe('the columns', () => {
  const cases: [
    flags: string,
    columns: Partial<Record<ColumnName, [SubjectName, shards: unknown, threads: number]>>,
  ][] = [
    [
      '--loops 1',
      {
        driver: ['driver', 1, 1],
        shardwheel: ['shardwheel', 0, 1],
        shards: ['shardwheel', 1, 1],
        native: ['native', 1, 1],
      },
    ],
    ['--shards 3 --loops 1 --no-native --no-inline', { driver: ['driver', 3, 1], shards: ['shardwheel', 3, 1] }],
    ['--shards 0 --no-native', { driver: ['driver', 0, 1], shardwheel: ['shardwheel', 0, 1] }],
    [
      '--loops 2 --no-native',
      {
        driver: ['driver', 1, 1],
        shardwheel: ['shardwheel', 0, 1],
        loops: ['driver', 1, 2],
        shards: ['shardwheel', 1, 2],
      },
    ],
    ['--threads 2 --no-inline --no-native', { driver: ['driver', 1, 2], shards: ['shardwheel', 1, 2] }],
  ];
  test.each(cases)('%s', (flags, expected) => {
    const columns = columnsOf(flags);
    const found = columns.map(({ name, subject, options }) => [name, [subject, options.shards, options.threads]]);
    expect(found).toEqual(Object.entries(expected));
    for (const { base, options } of columns) {
      const driver = columns.find(({ name }) => name === base);
      expect(driver).toMatchObject({ subject: 'driver', options: { threads: options.threads } });
    }
  });

  test('with shards on several event loops where there are cores for them, and the head says so', () => {
    expect([1, 2, 3, 4, 5, 6, 8, 64].map(usualLoops)).toEqual([1, 1, 1, 2, 2, 3, 4, 4]);
    expect(columnsOf('--shards 2 --loops 3').map(({ head }) => head.join(' | '))).toEqual([
      'driver alone',
      'shardwheel | inline',
      'driver alone | 3 event loops',
      'shardwheel | 2 shards | 3 event loops',
      'node:timers',
    ]);
  });
});

const fine = { early: 0, lost: 0, doubled: 0, refused: 0 };

/** What a replay of a subject came to that took `times` the driver's CPU, memory and time. */
function runOf(subject: SubjectName, { threads, cps }: ReplayOptions, times: number, changes: Changes = {}): ReplayRun {
  const { endedByItself = true, strayed = 0, ...wrong } = changes;
  const histogram = new LatenessHistogram();
  histogram.record(times);
  const result: ReplayResult = {
    ...{ subject, threads, connections: 1000, asked: cps, reached: cps, arrivals: 1, seconds: 2, strayed },
    ...{ armed: 6000, moved: 2000, cancelled: 2000, peakLive: 500, checksum: 1, own: undefined },
    verdict: {
      ...fine,
      fired: 3000,
      handedBack: 1000,
      earliest: 0,
      latestAtStart: 1,
      ...wrong,
      lateness: histogram.summary(),
    },
    cpu: { thread: 100 * times, process: 200 * times, source: 'schedstat', waiting: 0 },
    memory: { before: 0, rest: 1000, peak: 1000 + 500 * 100 * times, live: 500 },
    ...{ wakes: 4000, longestBlock: 10 * times, longestLag: 1, closing: 1 },
  };
  return { result, endedByItself };
}

type Changes = Partial<Verdict> & { readonly endedByItself?: boolean; readonly strayed?: number };
type Runs = Partial<Record<'driver' | 'inline' | 'shards' | 'native', Changes>>;

describe('the command', () => {
  let printed = '';
  beforeEach(() => {
    printed = '';
    const print = (text: string): void => {
      printed += `${text}
`;
    };
    vi.spyOn(console, 'log').mockImplementation(print);
    vi.spyOn(console, 'error').mockImplementation(print);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  });
  afterEach(() => vi.restoreAllMocks());

  /** Timers take 1 of the driver's CPU inline, 2 with shards, 4 of Node's. */
  const run = (flags: string, runs: Runs = {}): Promise<number> =>
    replayCommand(['--loops', '1', ...flags.split(' ').filter(Boolean)], 'replay', [], async (subject, options) => {
      if (subject === 'driver') return runOf(subject, options, 1, runs.driver);
      if (subject === 'native') return runOf(subject, options, 5, runs.native);
      return options.shards === 0 ? runOf(subject, options, 2, runs.inline) : runOf(subject, options, 3, runs.shards);
    });

  /** The cells of the row of that title. */
  const row = (title: string): string[] => {
    const line = printed.split('\n').find((line) => line.startsWith('│') && line.includes(title));
    return (line ?? '')
      .split('│')
      .slice(2, -1)
      .map((cell) => cell.trim());
  };

  test('shows the columns side by side, with what timers cost beyond the driver, as a share of what they cost Node', async () => {
    expect(await run('')).toBe(0);
    expect(row('shardwheel')).toEqual(['driver alone', 'shardwheel', 'shardwheel', 'node:timers']);
    expect(row('inline')).toEqual(['', 'inline', '1 shard', '']);
    expect(row('event-loop CPU per operation, ns')).toEqual(['–', '10,000 0.25×', '20,000 0.50×', '40,000']);
    expect(row('process CPU per operation, ns')).toEqual(['–', '20,000 0.25×', '40,000 0.50×', '80,000']);
    expect(row('process CPU, ms')).toEqual(['200', '400', '600', '1,000']);
    expect(row('bytes per live timer')).toEqual(['–', '100 0.25×', '200 0.50×', '400']);
    expect(row('longest event-loop block')).toEqual(['10.0', '20.0 0.40×', '30.0 0.60×', '50.0']);
    expect(row('wakes of all threads')).toEqual(['2,000', '2,000', '2,000', '2,000']);
    for (const title of [' p50', ' p99 ', ' p99.9', ' most ']) {
      expect(row(title).map((cell) => /^\d\.\d\d( 0\.\d\d×)?$/.test(cell))).toEqual([true, true, true, true]);
    }
    for (const title of [' early', ' lost', ' doubled', ' refused a live timer']) {
      expect(row(title)).toEqual(['–', '0', '0', '0']);
    }
    const widths = new Set(
      printed
        .split('\n')
        .filter((line) => /^[┌├│└]/.test(line))
        .map((line) => line.length),
    );
    expect([...widths]).toHaveLength(1);
    expect([...widths][0]).toBeLessThanOrEqual(100);
  });

  test('has no ratios without the column of Node', async () => {
    expect(await run('--no-native')).toBe(0);
    expect(row('event-loop CPU per operation, ns')).toEqual(['–', '10,000', '20,000']);
    expect(printed).not.toContain('×:');
  });

  const wrongs: [what: string, changes: Changes][] = [
    ['early', { early: 1 }],
    ['lost', { lost: 1 }],
    ['doubled', { doubled: 1 }],
    ['refused', { refused: 1 }],
    ['in a wrong context', { strayed: 1 }],
    ['kept alive', { endedByItself: false }],
  ];
  test.each(wrongs)('fails where a timer was %s, and says in which column', async (_, changes) => {
    const verdicts = () => printed.split('\n').filter((line) => /^(ok|FAILED): /.test(line));
    expect(await run('', { shards: changes })).toBe(1);
    expect(verdicts().map((line) => line.split(': ', 2).join(': '))).toEqual([
      'ok: shardwheel, inline',
      'FAILED: shardwheel, 1 shard',
    ]);
    printed = '';
    expect(await run('', { inline: changes })).toBe(1);
    expect(verdicts().map((line) => line.split(': ', 2).join(': '))).toEqual([
      'FAILED: shardwheel, inline',
      'ok: shardwheel, 1 shard',
    ]);
  });

  test("is not to blame for Node's early timers", async () => {
    expect(await run('', { native: { early: 7 } })).toBe(0);
    expect(row(' early')).toEqual(['–', '0', '0', '7']);
  });

  test('takes the driver on as many event loops off the column of several', async () => {
    const argv = ['--loops', '2', '--no-native', '--no-inline'];
    const code = await replayCommand(argv, 'replay', [], async (subject, options) => {
      const driver = options.threads === 1 ? 1 : 1.5;
      return runOf(subject, options, subject === 'driver' ? driver : 3);
    });
    expect(code).toBe(0);
    expect(row('event-loop CPU per operation, ns')).toEqual(['–', '–', '15,000']);
    expect(printed).toContain('Of several event loops:');
  });

  test('says in one line what was wrong with a flag, and ends with 2, whoever found it', async () => {
    expect(await run('--shards many')).toBe(2);
    const failing = replayCommand([], 'replay', [], async () => {
      throw new UsageError('tick must be more, got 0.5');
    });
    expect(await failing).toBe(2);
    expect(printed).toMatch(
      /^error: option '--shards <n>' argument 'many' is invalid\. .*\nerror: tick must be more, got 0\.5\n$/,
    );
  });
});
