import { type Comparison, compare, requireAgreement } from './comparison.ts';
import { forkMeasurement } from './fork-measurement.ts';
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
  const present = suite.subjects.filter(({ absent }) => absent === undefined);
  const parts = suite.parts ?? [''];
  const processes = suite.runTogether === undefined ? present.length : 1;
  const all = rounds * processes * parts.length;
  const checksums = new Map<string, [string, number]>();
  const measured: Map<string, Measurement>[] = [];
  let done = 0;
  for (let round = 0; round < rounds; round++) {
    const results = new Map<string, Measurement>();
    const names = rotated(present, round).map(({ name }) => name);
    for (const subjects of suite.runTogether === undefined ? names.map((name) => [name]) : [names]) {
      const figures = subjects.map((): Record<string, number> => ({}));
      for (const part of parts) {
        onProgress([suite.name, part, ...subjects].filter(Boolean).join(', '), done++, all);
        const measurements = await forkMeasurement({ suite: suite.name, subjects, part, scale }, signal);
        for (const [at, measurement] of measurements.entries()) {
          requireAgreement(suite, checksums, subjects[at], measurement);
          Object.assign(figures[at], measurement.figures);
        }
      }
      for (const [at, subject] of subjects.entries()) {
        const derived = suite.derive?.(figures[at], subject);
        results.set(subject, { figures: { ...figures[at], ...derived }, checksums: {} });
      }
    }
    measured.push(results);
  }
  return compare(suite, measured);
}

function rotated<T>(values: readonly T[], by: number): T[] {
  const first = by % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}
