import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Summary } from '../../tools/replay/summary.ts';
import { runNode } from '../fixtures/child-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const main = 'dist/tools/replay/main.js';
const folder = temporaryFolder();

const small = '--cps 2000 --seconds 1 --drain 0.6 --time-wait 0.2 --request-timeout 0.3 --lifetime 0.5 --hang 5'.split(
  ' ',
);

describe('a small replay, end to end', () => {
  test.each([
    ['two shards, compared with Node', ['--shards', '2']],
    ['inline, alone', ['--shards', '0', '--no-native']],
    ['two event loops and one shard, compared with Node', ['--threads', '2', '--shards', '1']],
    ['three event loops inline, alone', ['--threads', '3', '--shards', '0', '--no-native']],
    ["two event loops and shards: 'auto', alone", ['--threads', '2', '--shards', 'auto', '--no-native']],
  ])('%s: every timer is accounted for', async (_name, argv) => {
    const json = join(folder, 'result.json');
    const { code, stdout, stderr } = await runNode([main, ...small, ...argv, '--json', json]);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const { options, driver, shardwheel, native, correct } = JSON.parse(readFileSync(json, 'utf8')) as Summary;
    expect(shardwheel.verdict).toMatchObject({ early: 0, lost: 0, doubled: 0, refused: 0 });
    expect(correct).toBe(true);
    const threads = argv.includes('--threads') ? Number(argv[1]) : 1;
    expect([options.threads, shardwheel.threads]).toEqual([threads, threads]);
    const { armed, cancelled, moved, verdict } = shardwheel;
    expect(armed).toBe(cancelled + verdict.fired + verdict.handedBack);
    expect([shardwheel.connections, driver.connections]).toEqual([2000, 2000]);
    expect(verdict.fired).toBeGreaterThan(500); // TIME-WAIT of most connections, and requests that hang
    expect(moved).toBeGreaterThan(2000);
    const { scheduled, rescheduled, cancelled: ended, delivered } = shardwheel.own as Record<string, number>;
    expect([scheduled, rescheduled, ended, delivered]).toEqual([armed, moved, cancelled, verdict.fired]);
    expect(verdict.lateness.count).toBeGreaterThan(0.5 * verdict.fired); // what is due after the plan's end does not count
    expect(verdict.lateness.count).toBeLessThanOrEqual(verdict.fired);
    expect(native === undefined).toBe(argv.includes('--no-native'));
    if (native) expect(native.verdict).toMatchObject({ lost: 0, doubled: 0, refused: 0 });
    expect(stdout).toContain('timers live at the peak');
    expect(stdout).toMatch(/ok: 0 early, 0 lost, 0 doubled, 0 refused of/);
    expect(stderr).toMatch(/^driver alone .*\nshardwheel /ms);
  });

  test.each(['1', '2'])('an interrupt ends %s event loops cleanly, without a table', async (threads) => {
    const flags = ['--cps', '500', '--seconds', '30', '--no-native', '--threads', threads];
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
