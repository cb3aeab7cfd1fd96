import { type Spread, spreadOf } from './statistics.ts';
import { type Figure, idleOf, isIdle, type Measurement, netNote, type SubjectEntry, type Suite } from './suite.ts';

/** What one figure of one subject came to over all rounds. */
export interface Row {
  readonly subject: string;
  readonly figure: string;
  readonly value: Spread;
  /** To the suite's base, round by round. The base's own is 1. */
  readonly ratio: Spread | undefined;
  /** To further bases, by name, likewise. */
  readonly otherRatios?: Readonly<Record<string, Spread>>;
}

/** All that a table of it needs: it can be shown when its suite is gone or has changed. */
export interface Comparison {
  readonly suite: string;
  readonly title: string;
  /** How it was measured. */
  readonly about: string;
  readonly base: string;
  readonly figures: readonly Pick<Figure, 'key' | 'title' | 'unit'>[];
  readonly rows: readonly Row[];
  /** Who could not take part on that machine, by name, and why. */
  readonly absent?: Readonly<Record<string, string>>;
}

/** Who was measured, in order. */
export const subjectsIn = ({ rows }: Comparison): string[] => [...new Set(rows.map(({ subject }) => subject))];

export const rowIn = ({ rows }: Comparison, subject: string, figure: string): Row | undefined =>
  rows.find((row) => row.subject === subject && row.figure === figure);

/** The subjects of a suite, with the reason of those that could not take part in the run. */
export const withAbsent = ({ subjects }: Suite, { absent }: Comparison): SubjectEntry[] =>
  subjects.map((one) => ({ ...one, absent: one.absent ?? absent?.[one.name] }));

/** rounds[r].get(subject) is what the subject measured in round r. */
export type Rounds = readonly ReadonlyMap<string, Measurement>[];

export function compare(suite: Suite, rounds: Rounds): Comparison {
  const rows: Row[] = [];
  for (const { name } of suite.subjects) {
    for (const figure of suite.figures) {
      const values = rounds.map((round) => figureOf(suite, round, name, figure.key, figure.net === true));
      const known = values.filter((value) => value !== undefined);
      if (known.length !== rounds.length) continue;
      const ratioTo = (base: string): Spread | undefined => {
        const of = rounds.map((round) => figureOf(suite, round, base, figure.key, figure.net === true));
        const ratios = known.map((value, round) => value / (of[round] ?? Number.NaN)).filter(Number.isFinite);
        return !isIdle(suite, name) && ratios.length === rounds.length ? spreadOf(ratios) : undefined;
      };
      const others = (suite.otherBases ?? []).flatMap((base): [string, Spread][] => {
        const ratio = base === name ? undefined : ratioTo(base);
        return ratio === undefined ? [] : [[base, ratio]];
      });
      const row = { subject: name, figure: figure.key, value: spreadOf(known), ratio: ratioTo(suite.base) };
      rows.push(others.length === 0 ? row : { ...row, otherRatios: Object.fromEntries(others) });
    }
  }
  const figures = suite.figures.map(({ key, title, unit }) => ({ key, title, unit }));
  return {
    suite: suite.name,
    title: suite.title,
    about: suite.about + netNote(suite),
    base: suite.base,
    figures,
    rows,
  };
}

/** Idle subjects themselves are shown as they are. */
function figureOf(suite: Suite, round: Rounds[number], subject: string, key: string, net: boolean): number | undefined {
  const value = round.get(subject)?.figures[key];
  const driver = idleOf(suite, subject);
  if (value === undefined || !net || driver === undefined) return value;
  const idle = round.get(driver)?.figures[key];
  return idle === undefined ? undefined : value - idle;
}

/** Throws where two measurements have a checksum of the same name and different value: one of them did other work. */
export function requireAgreement(suite: Suite, seen: Map<string, [string, number]>, subject: string, of: Measurement) {
  for (const [key, value] of Object.entries(of.checksums)) {
    const [other, expected] = seen.get(key) ?? [subject, value];
    if (expected !== value) {
      throw new Error(
        `${suite.name}: checksum "${key}" of ${subject} is ${value}, that of ${other} ${expected}: they did different work`,
      );
    }
    seen.set(key, [other, expected]);
  }
}
