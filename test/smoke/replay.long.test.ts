import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Summary } from '../../bench/replay/summary.ts';
import { runNode } from '../fixtures/child-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const main = 'dist/bench/replay/main.js';
const folder = temporaryFolder();

const small = '--cps 2000 --seconds 1 --drain 0.6 --time-wait 0.2 --request-timeout 0.3 --lifetime 0.5 --hang 5'.split(
  ' ',
);

describe('a small replay, end to end', () => {
  type Column = 'driver' | 'shardwheel' | 'loops' | 'shards' | 'native';
  /** The columns that are measured, and how many event loops each has. */
  const cases: [name: string, argv: string[], columns: Partial<Record<Column, number>>][] = [
    ['two shards, compared with Node', ['--shards', '2'], { driver: 1, shardwheel: 1, shards: 1, native: 1 }],
    ['inline, alone', ['--shards', '0', '--no-native'], { driver: 1, shardwheel: 1 }],
    [
      'two event loops and one shard, compared with Node',
      ['--threads', '2', '--no-inline'],
      { driver: 2, shards: 2, native: 2 },
    ],
    [
      'three event loops inline, alone',
      ['--threads', '3', '--shards', '0', '--no-native'],
      { driver: 3, shardwheel: 3 },
    ],
    [
      'two event loops that share a shard, beside one',
      ['--loops', '2', '--no-native'],
      { driver: 1, shardwheel: 1, loops: 2, shards: 2 },
    ],
    [
      "two event loops and shards: 'auto', alone",
      ['--threads', '2', '--shards', 'auto', '--no-inline', '--no-native'],
      { driver: 2, shards: 2 },
    ],
  ];
  test.each(cases)('%s: every timer is accounted for', async (_name, argv, columns) => {
    const json = join(folder, 'result.json');
    // Else their number is the machine's.
    const loops = argv.some((flag) => flag === '--loops' || flag === '--threads' || flag === '0')
      ? []
      : ['--loops', '1'];
    const replay = async () => {
      const { code, stdout, stderr } = await runNode([main, ...small, ...argv, ...loops, '--json', json]);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return { stdout, stderr, summary: JSON.parse(readFileSync(json, 'utf8')) as Summary };
    };
    // A replay that has fallen as far behind as it lasts opens no more connections, and says so.
    const isCut = ({ driver, shardwheel, shards }: Summary) =>
      [driver, shardwheel, shards].some((run) => run !== undefined && run.connections < 2000);
    let { stdout, stderr, summary } = await replay();
    for (let tries = 1; tries < 5 && isCut(summary); tries++) ({ stdout, stderr, summary } = await replay());
    const { driver, native, correct, wrong } = summary;
    expect({ correct, wrong }).toEqual({ correct: true, wrong: [] });
    const names = ['driver', 'shardwheel', 'loops', 'shards', 'native'] as const;
    const present = names.flatMap((name) => (summary[name] ? [[name, summary[name].threads]] : []));
    expect(Object.fromEntries(present)).toEqual(columns);
    expect(driver.wakes).toBeGreaterThan(0);
    const ours = [summary.shardwheel, summary.shards].filter((run) => run !== undefined);
    expect(ours.length).toBeGreaterThan(0);
    for (const run of ours) {
      expect(run.verdict).toMatchObject({ early: 0, lost: 0, doubled: 0, refused: 0 });
      const { armed, cancelled, moved, verdict } = run;
      expect(armed).toBe(cancelled + verdict.fired + verdict.handedBack);
      expect([run.connections, driver.connections]).toEqual([2000, 2000]);
      expect(verdict.fired).toBeGreaterThan(500); // TIME-WAIT of most connections, and requests that hang
      expect(moved).toBeGreaterThan(2000);
      const { scheduled, rescheduled, cancelled: ended, delivered } = run.own as Record<string, number>;
      expect([scheduled, rescheduled, ended, delivered]).toEqual([armed, moved, cancelled, verdict.fired]);
      // what is due after the plan's end does not count
      expect(verdict.lateness.count).toBeGreaterThan(0.5 * verdict.fired);
      expect(verdict.lateness.count).toBeLessThanOrEqual(verdict.fired);
    }
    if (native) expect(native.verdict).toMatchObject({ lost: 0, doubled: 0, refused: 0 });
    expect(stdout).toContain('timers live at the peak');
    expect(stdout.match(/^ok: shardwheel, .*: 0 early, 0 lost, 0 doubled, 0 refused of/gm)).toHaveLength(ours.length);
    const replays = Object.keys(columns).length;
    expect(stderr).toMatch(
      new RegExp(`^${replays} replays, .*\\n1/${replays} driver alone .*\\n2/${replays} \\w`, 's'),
    );
  });

  test.each(['1', '2'])('an interrupt ends %s event loops cleanly, without a table', async (threads) => {
    const flags = ['--cps', '500', '--seconds', '30', '--threads', threads];
    const { code, stdout, stderr } = await runNode([main, ...flags], {
      onStart: (child) => {
        let shown = '';
        child.stderr?.on('data', (chunk) => {
          shown += chunk;
          if (!child.killed && shown.includes('conn/s')) child.kill('SIGINT');
        });
      },
    });
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('interrupted');
  });
});
