import { describe, expect, it } from 'vitest';
import { compare, requireAgreement } from '../../bench/engine/comparison.ts';
import { select, selectTargeted } from '../../bench/engine/selection.ts';
import { spreadOf } from '../../bench/engine/statistics.ts';
import type { Measurement, Suite } from '../../bench/engine/suite.ts';
import { Tally } from '../../bench/suites/wheel/tally.ts';
import { judge, targets } from '../../bench/targets.ts';

const suite: Suite = {
  name: 'area workload',
  title: '',
  codes: ['X1'],
  about: '',
  base: 'peer',
  idle: 'driver',
  subjects: [{ name: 'driver' }, { name: 'peer' }, { name: 'mine' }, { name: 'other', absent: 'cannot' }],
  figures: [
    { key: 'gross', title: '', unit: 'ns' },
    { key: 'net', title: '', unit: 'ns', net: true },
  ],
  run: () => ({ figures: {}, checksums: {} }),
};

const round = (figures: Record<string, number>): Map<string, Measurement> =>
  new Map(
    Object.entries(figures).map(([name, value]) => [name, { figures: { gross: value, net: value }, checksums: {} }]),
  );

const row = (subject: string, figure: string) =>
  compare(suite, [
    round({ driver: 10, peer: 110, mine: 30 }),
    round({ driver: 10, peer: 60, mine: 35 }),
    round({ driver: 20, peer: 120, mine: 40 }),
  ]).rows.find((one) => one.subject === subject && one.figure === figure);

describe('comparison', () => {
  it('divides by the base round by round, and takes medians of the ratios', () => {
    expect(row('mine', 'gross')?.ratio).toEqual({ median: 40 / 120, least: 30 / 110, most: 35 / 60 });
    expect(row('peer', 'gross')?.ratio).toEqual({ median: 1, least: 1, most: 1 });
  });

  it('a target is judged by the base that it names', () => {
    const target = targets.find(({ base }) => base !== undefined)!;
    const judged = (base: string, ratio: number, otherRatios: Record<string, ReturnType<typeof spreadOf>> = {}) =>
      judge([
        {
          suite: target.suite,
          title: '',
          about: '',
          base,
          figures: [],
          rows: [{ ...target, value: spreadOf([1]), ratio: spreadOf([ratio]), otherRatios }],
        },
      ]).find((verdict) => verdict.target === target)?.state;
    const base = target.base as string;
    expect(judged(base, target.most)).toBe('met');
    expect(judged(base, target.most * 1.01)).toBe('NOT MET');
    expect(judged('another', 1e9, { [base]: spreadOf([target.most]) })).toBe('met');
    expect(judged('another', 0)).toBe('not measured');
  });

  it("takes the driver's share off net figures before dividing", () => {
    expect(row('mine', 'net')?.value).toEqual({ median: 20, least: 20, most: 25 });
    expect(row('mine', 'net')?.ratio).toEqual({ median: 0.2, least: 0.2, most: 0.5 });
    expect(row('driver', 'net')).toMatchObject({ value: { median: 10 }, ratio: undefined });
  });

  it("takes off the share of a subject's own driver, where it has one", () => {
    const subjects = [
      { name: 'driver' },
      { name: 'second driver' },
      { name: 'peer' },
      { name: 'mine', idle: 'second driver' },
    ];
    const rounds = [round({ driver: 10, 'second driver': 20, peer: 110, mine: 70 })];
    const net = compare({ ...suite, subjects }, rounds).rows.filter(({ figure }) => figure === 'net');
    expect(net.map(({ subject, value, ratio }) => [subject, value.median, ratio?.median])).toEqual([
      ['driver', 10, undefined],
      ['second driver', 20, undefined],
      ['peer', 100, 1],
      ['mine', 50, 0.5],
    ]);
  });

  it('refuses subjects that did different work', () => {
    const seen = new Map<string, [string, number]>();
    requireAgreement(suite, seen, 'peer', { figures: {}, checksums: { fired: 7 } });
    expect(() => requireAgreement(suite, seen, 'mine', { figures: {}, checksums: { other: 8 } })).not.toThrow();
    expect(() => requireAgreement(suite, seen, 'mine', { figures: {}, checksums: { fired: 8 } })).toThrow(
      /different work/,
    );
  });

  it('has medians of even and odd counts', () => {
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, least: 1, most: 3 });
    expect(spreadOf([4, 1, 2, 3])).toEqual({ median: 2.5, least: 1, most: 4 });
  });
});

describe('a target', () => {
  const verdict = (median: number) => {
    const target = targets.find(({ figure }) => figure === 'p99')!;
    const spread = { median, least: 0.1, most: 9 };
    const comparison = {
      suite: target.suite,
      title: '',
      about: '',
      base: '',
      figures: [],
      rows: [{ ...target, value: spread, ratio: spread }],
    };
    return judge([comparison]).find((one) => one.target === target)?.state;
  };

  it('is met at its bound and below, by the median', () => {
    expect([verdict(2), verdict(2.01)]).toEqual(['met', 'NOT MET']);
  });

  it('is not spoken of where its suite was not run', () => {
    expect(judge([])).toEqual([]);
  });
});

describe('the tally', () => {
  const tally = () => {
    const made = new Tally(4, 5);
    for (const timer of [0, 1, 2]) made.schedule(timer, 10);
    made.now = 10;
    return made;
  };
  const fire = (made: Tally, ...timers: number[]) => {
    for (const timer of timers) made.fired(timer);
    return () => made.requireAllAccountedFor();
  };

  it('is content when each timer has fired or was cancelled', () => {
    const made = tally();
    made.cancel(0);
    expect(fire(made, 1, 2)).not.toThrow();
  });

  it('reports a timer that is lost, fires twice, or fires after it was cancelled', () => {
    expect(fire(tally(), 0, 1)).toThrow(/1 are missing/);
    expect(fire(tally(), 0, 1, 2, 2)).toThrow(/1 fired/);
    const made = tally();
    made.cancel(0);
    expect(fire(made, 0, 1, 2)).toThrow(/1 fired/);
  });

  it('reports one that is early, or later than allowed', () => {
    for (const now of [9, 16]) {
      const made = tally();
      made.now = now;
      expect(fire(made, 0, 1, 2)).toThrow(/3 fired/);
    }
  });
});

describe('words', () => {
  const second: Suite = { ...suite, name: 'area other', codes: ['X2'], subjects: [{ name: 'peer' }, { name: 'mine' }] };
  const picked = (...words: string[]) =>
    select([suite, second], words).map(({ name, subjects }) => `${name}: ${subjects.map((one) => one.name).join(' ')}`);
  const all = 'driver peer mine other';

  it.each([
    [[], [`area workload: ${all}`, 'area other: peer mine']],
    [['area', 'work'], [`area workload: ${all}`]],
    [['x1'], [`area workload: ${all}`]],
    [
      ['X1', 'X2'],
      [`area workload: ${all}`, 'area other: peer mine'],
    ],
    [['driver'], ['area workload: driver peer']],
    [['mine', 'X1'], ['area workload: driver peer mine']],
    [['nobody'], []],
  ])('%j pick %j', (words, expected) => {
    expect(picked(...words)).toEqual(expected);
  });
});

it('the targets pick the suites that they speak of, and of the subjects those, the base and the driver', () => {
  const other: Suite = { ...suite, name: 'area other' };
  const target = { title: '', suite: suite.name, subject: 'mine', figure: 'cost', most: 1, unit: '', of: '' };
  const names = selectTargeted([suite, other], [target]).map(({ name, subjects }) => [
    name,
    subjects.map((one) => one.name),
  ]);
  expect(names).toEqual([[suite.name, ['driver', 'peer', 'mine']]]);
  const subjects = [...suite.subjects, { name: 'driver of mine' }, { name: 'mine too', idle: 'driver of mine' }];
  const [picked] = selectTargeted([{ ...suite, subjects }], [{ ...target, subject: 'mine too' }]);
  expect(picked.subjects.map(({ name }) => name)).toEqual(['driver', 'peer', 'driver of mine', 'mine too']);
});
