import { type Comparison, compare, requireAgreement } from './comparison.ts';
import { forkMeasurement } from './fork-measurement.ts';
import { measureSubjects } from './measure-subjects.ts';
import type { Measurement, Scale, Suite } from './suite.ts';

export interface RoundsOptions {
  readonly rounds: number;
  readonly scale: Scale;
  readonly signal: AbortSignal;
  /** Told before each measurement: what it is, and how many of how many are done. */
  readonly onProgress: (what: string, done: number, all: number) => void;
}

/**
 * Measures every subject of a suite once per round, in interleaved rounds: what the machine does meanwhile hits all of
 * them alike. Each round begins with another subject. Throws where subjects did different work.
 */
export async function runSuite(suite: Suite, options: RoundsOptions): Promise<Comparison> {
  const { rounds, scale, signal, onProgress } = options;
  const absent = await suite.absentees?.(scale);
  const present = suite.subjects.filter((one) => one.absent === undefined && absent?.[one.name] === undefined);
  const parts = suite.parts ?? [''];
  const isTogether = (part: string) => suite.runTogether !== undefined && !suite.apart?.includes(part);
  const all = rounds * parts.reduce((sum, part) => sum + (isTogether(part) ? 1 : present.length), 0);
  const checksums = new Map<string, [string, number]>();
  const measured: Map<string, Measurement>[] = [];
  let done = 0;
  for (let round = 0; round < rounds; round++) {
    const names = rotated(present, round).map(({ name }) => name);
    const figures = new Map(names.map((name): [string, Record<string, number>] => [name, {}]));
    const runs = parts.flatMap((part) =>
      (isTogether(part) ? [names] : names.map((name) => [name])).map((subjects) => ({ part, subjects })),
    );
    for (const { part, subjects } of runs) {
      onProgress([suite.name, part, ...subjects].filter(Boolean).join(', '), done++, all);
      const assignment = { suite: suite.name, subjects, part, scale };
      signal.throwIfAborted();
      const measurements = await (suite.spawns
        ? measureSubjects(suite, assignment)
        : forkMeasurement(assignment, signal));
      for (const [at, measurement] of measurements.entries()) {
        requireAgreement(suite, checksums, subjects[at], measurement);
        Object.assign(figures.get(subjects[at])!, measurement.figures);
      }
    }
    const results = new Map<string, Measurement>();
    for (const [subject, own] of figures) {
      results.set(subject, { figures: { ...own, ...suite.derive?.(own, subject) }, checksums: {} });
    }
    measured.push(results);
  }
  const comparison = compare(suite, measured);
  return absent === undefined || Object.keys(absent).length === 0 ? comparison : { ...comparison, absent };
}

function rotated<T>(values: readonly T[], by: number): T[] {
  const first = by % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}
