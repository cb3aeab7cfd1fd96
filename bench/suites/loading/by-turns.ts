import { spreadOf } from '../../engine/statistics.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import type { Figures } from './spawned.ts';

/** Starts what is measured, in processes of its own. */
export type Once = (subject: string, part: string, scale: Scale) => Promise<Figures>;

/** How often in a round each subject is started; the figure is the median. */
export type Times = (scale: Scale, part: string) => number;

/** Starts the subjects by turns, to and fro, so that what else the machine does hits all of them alike. */
export function byTurns(times: Times, once: Once): Required<Pick<Suite, 'run' | 'runTogether'>> {
  const runTogether = async (subjects: readonly string[], scale: Scale, part: string): Promise<Measurement[]> => {
    const measured = new Map(subjects.map((subject): [string, Figures[]] => [subject, []]));
    for (let time = 0; time < times(scale, part); time++) {
      const order = time % 2 === 0 ? subjects : [...subjects].reverse();
      for (const subject of order) measured.get(subject)!.push(await once(subject, part, scale));
    }
    return subjects.map((subject) => ({ figures: mediansOf(measured.get(subject)!), checksums: {} }));
  };
  const run = async (subject: string, scale: Scale, part: string) => (await runTogether([subject], scale, part))[0];
  return { run, runTogether };
}

const mediansOf = (all: readonly Figures[]): Figures =>
  Object.fromEntries(Object.keys(all[0]).map((key) => [key, spreadOf(all.map((each) => each[key])).median]));
