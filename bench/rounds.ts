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
  const all = rounds * present.length * parts.length;
  const checksums = new Map<string, [string, number]>();
  const measured: Map<string, Measurement>[] = [];
  let done = 0;
  for (let round = 0; round < rounds; round++) {
    const results = new Map<string, Measurement>();
    for (const { name: subject } of rotated(present, round)) {
      const figures: Record<string, number> = {};
      for (const part of parts) {
        onProgress([suite.name, part, subject].filter(Boolean).join(', '), done++, all);
        const measurement = await forkMeasurement({ suite: suite.name, subject, part, scale }, signal);
        requireAgreement(suite, checksums, subject, measurement);
        Object.assign(figures, measurement.figures);
      }
      results.set(subject, { figures: { ...figures, ...suite.derive?.(figures, subject) }, checksums: {} });
    }
    measured.push(results);
  }
  return compare(suite, measured);
}

function rotated<T>(values: readonly T[], by: number): T[] {
  const first = by % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}
