import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ReportData } from '../../src/extras/profile/report-data.ts';
import { delayText } from '../../src/extras/profile/short-report.ts';
import { embedded } from '../../tools/cli/profile/html-report.ts';
import { readProfiles } from '../../tools/cli/profile/profile-files.ts';
import { terminalReport } from '../../tools/cli/profile/terminal-report.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { exampleCosts, exampleData } from './example-data.ts';

const folder = temporaryFolder();

const reportOf = (changes: Partial<ReportData> = {}): ReportData => ({
  date: '2026-11-23T00:00:00.000Z',
  command: 'node app.js',
  end: 'ended with exit code 0',
  machine: 'a machine',
  calibration: undefined,
  loops: [
    {
      data: exampleData(),
      estimate: { calls: 0.059, firing: 0.004, withShardwheel: 0.0305, young: 0 },
      verdict: { need: 'gain', headline: 'The headline', reason: 'The reason.' },
    },
  ],
  limits: ['a limit'],
  ...changes,
});

describe('the report in the terminal', () => {
  test('begins with the answer, and has the numbers', () => {
    const text = terminalReport(reportOf({ calibration: exampleCosts }), 8);
    expect(text.split('\n').slice(0, 3)).toEqual(['The headline.', 'The reason.', '']);
    for (const part of [
      'node app.js: app.js (process 4711, Node v20.20.2), 10.0 s; the program ended with exit code 0',
      '100,000 created, 90,000 cleared, 0 refreshed, 10,000 fired',
      '0 at the end; at most 5,000, after 3.0 s',
      'busy for 10 % of the time',
      '6.3 % of its busy time: calls 5.9 %, firing 0.4 %; with shardwheel about 3.0 %',
      '2 of 100 sampled, by at most 0.40 ms',
      '5,000 live',
      '- a limit',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain('event loop   │ created');
  });

  test('has as many delays as are asked for, and says that there are more', () => {
    const delays = Array.from({ length: 64 }, (_, at) => ({ ...exampleData().delays[0], delay: at + 1 }));
    const [loop] = reportOf().loops;
    const many = { ...loop, data: exampleData({ delays, differentDelays: 900 }) };
    const text = terminalReport(reportOf({ loops: [many] }), 3);
    expect(text.match(/│ +\d+ ms │ +100,000/g)).toHaveLength(3);
    expect(text).toContain('900 different delays; the 3 with most operations.');
  });

  test('has a line for each other event loop', () => {
    const [loop] = reportOf().loops;
    const data = exampleData({ process: { ...loop.data.process, thread: 2 } });
    const worker = { ...loop, data, estimate: undefined };
    expect(terminalReport(reportOf({ loops: [loop, worker] }), 8)).toMatch(/worker 2, Node v20\.20\.2\) .*│ +– │/);
  });
});

test.each([
  [1, '1 ms'],
  [999, '999 ms'],
  [1500, '1.5 s'],
  [90_000, '1.5 min'],
  [86_400_000, '1 d'],
])('a delay of %i ms is %s', (delay, text) => expect(delayText(delay)).toBe(text));

test('what is embedded in the page ends no script, begins no comment, and is the same when it is read', () => {
  const hostile = { '</script>': ['<!--', '<script>', 'a & b', '\u2028'] };
  expect(embedded(hostile)).not.toContain('<');
  expect(JSON.parse(embedded(hostile))).toEqual(hostile);
});

test('the files of a folder: those of this format, most operations first, and nothing else', () => {
  const small = exampleData({ totals: { created: 1, cleared: 0, refreshed: 0, fired: 0 } });
  const files: Record<string, unknown> = {
    '1-0.json': small,
    '2-0.json': exampleData(),
    'other.json': { ...small, format: 2 },
    'null.json': null,
    'list.json': [],
    '3-0.json.part': small,
  };
  for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(value));
  writeFileSync(join(folder, 'torn.json'), '{"format":1,');
  expect(readProfiles(folder)).toEqual([exampleData(), small]);
});
