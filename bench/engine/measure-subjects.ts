import type { Assignment } from './fork-measurement.ts';
import type { Measurement, Suite } from './suite.ts';

/** Measures subjects of a suite in this process, in their order. */
export async function measureSubjects(
  suite: Suite,
  { subjects, scale, part }: Omit<Assignment, 'suite'>,
): Promise<readonly Measurement[]> {
  if (suite.runTogether !== undefined && !suite.apart?.includes(part)) {
    return suite.runTogether(subjects, scale, part);
  }
  const measurements: Measurement[] = [];
  for (const subject of subjects) measurements.push(await suite.run(subject, scale, part));
  return measurements;
}
