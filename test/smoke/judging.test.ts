import { describe, expect, it } from 'vitest';
import { compare, requireAgreement } from '../../bench/engine/comparison.ts';
import { select, selectTargeted } from '../../bench/engine/selection.ts';
import { spreadOf } from '../../bench/engine/statistics.ts';
import type { Measurement, Suite } from '../../bench/engine/suite.ts';
import type { Target } from '../../bench/engine/target.ts';
import { wordsOf } from '../../bench/suites/programs/program-figures.ts';
import { nodeRatio } from '../../bench/suites/rates/node-ratio.ts';
import { rateSuites } from '../../bench/suites/rates/rate-suites.ts';
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
  /** The state of a target with such medians, measured against that base. */
  const verdict = (target: Target, base: string, value: number, ratio: number, others: Record<string, number> = {}) => {
    const spread = (median: number) => ({ median, least: 0.1, most: 9 });
    const otherRatios = Object.fromEntries(Object.entries(others).map(([name, each]) => [name, spread(each)]));
    const row = { ...target, value: spread(value), ratio: spread(ratio), otherRatios };
    const comparison = { suite: target.suite, title: '', about: '', base, figures: [], rows: [row] };
    return judge([comparison]).find((one) => one.target === target)?.state;
  };

  it('is met at its bound and below, by the median', () => {
    const target = targets.find(({ figure }) => figure === 'p99')!;
    const { most } = target;
    expect([most, most * 1.01].map((median) => verdict(target, '', median, median))).toEqual(['met', 'NOT MET']);
  });

  it('is judged by the base that it names', () => {
    const target = targets.find(({ base }) => base !== undefined)!;
    const { base = '', most } = target;
    expect(verdict(target, base, 1, most)).toBe('met');
    expect(verdict(target, base, 1, most * 1.01)).toBe('NOT MET');
    expect(verdict(target, 'another', 1, 1e9, { [base]: most })).toBe('met');
    expect(verdict(target, 'another', 1, 0)).toBe('not measured');
  });
});

describe('the tally', () => {
  /** What it says of three timers that are due at 10, and may be 5 late. */
  const say = (fired: readonly number[], { now = 10, cancelled = [] as number[] } = {}) => {
    const tally = new Tally(4, 5);
    for (const timer of [0, 1, 2]) tally.schedule(timer, 10);
    for (const timer of cancelled) tally.cancel(timer);
    tally.now = now;
    for (const timer of fired) tally.fired(timer);
    tally.requireAllAccountedFor();
  };

  it('is content when each timer has fired or was cancelled', () => {
    expect(() => say([1, 2], { cancelled: [0] })).not.toThrow();
  });

  it.each([
    ['is lost', [0, 1], {}, /1 are missing/],
    ['fires twice', [0, 1, 2, 2], {}, /1 fired/],
    ['fires after it was cancelled', [0, 1, 2], { cancelled: [0] }, /1 fired/],
    ['is early', [0, 1, 2], { now: 9 }, /3 fired/],
    ['is later than allowed', [0, 1, 2], { now: 16 }, /3 fired/],
  ])('reports a timer that %s', (_, fired, when, says) => {
    expect(() => say(fired, when)).toThrow(says);
  });
});

it('the targets pick the suites that they speak of, and of the subjects those, the base and their drivers', () => {
  const subjects = [...suite.subjects, { name: 'driver of mine' }, { name: 'mine too', idle: 'driver of mine' }];
  const others: Suite[] = [
    { ...suite, subjects },
    { ...suite, name: 'area other' },
  ];
  const target = { title: '', suite: suite.name, figure: 'cost', most: 1, unit: '', of: '' };
  const picked = (subject: string) =>
    selectTargeted(others, [{ ...target, subject }]).map(
      ({ name, subjects }) => `${name}: ${subjects.map((one) => one.name).join(' ')}`,
    );
  expect(picked('mine')).toEqual(['area workload: driver peer mine']);
  expect(picked('mine too')).toEqual(['area workload: driver peer driver of mine mine too']);
});

it('words speak of what holds in every round', () => {
  const spread = (least: number, most: number) => ({ median: (least + most) / 2, least, most });
  const words = wordsOf([spread(0.5, 0.9), spread(0.9, 1.1), spread(1.1, 1.2), undefined]);
  expect(words).toBe('less event-loop CPU; more p99');
  expect(wordsOf([spread(0.94, 0.96), spread(1, 1.06), undefined, undefined])).toBe('no difference');
});

describe('rates', () => {
  const [rated] = rateSuites.filter(({ name }) => name === 'rates pairs-100/s');
  const ratioIn = (...nodes: number[]) => {
    const rounds = nodes.map(
      (own) =>
        new Map(
          Object.entries({ 'driver alone': 10, 'node:timers': 10 + own, inline: 20 }).map(
            ([name, loop]): [string, Measurement] => [name, { figures: { loop }, checksums: {} }],
          ),
        ),
    );
    return nodeRatio(compare(rated, rounds), 'inline', 'loop')?.median;
  };

  it("divide by Node's own share where it is above zero in every round, and not where it is lost in the noise", () => {
    expect([ratioIn(5, 4, 2), ratioIn(5, 4, -1), ratioIn(5, 0, 4)]).toEqual([2.5, undefined, undefined]);
  });

  it('are picked one by one, by load, and all', () => {
    const picked = (...words: string[]) => select(rateSuites, words).map(({ name }) => name.replace('rates ', ''));
    expect(picked('rates', 'fires-10/s')).toEqual(['fires-10/s']);
    expect(picked('rates', 'pairs').length).toBe(4);
    expect(picked('r')).toEqual(picked('rates'));
    expect(new Set(picked('rates')).size).toBe(15);
  });
});
