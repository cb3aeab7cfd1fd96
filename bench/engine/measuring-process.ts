// Entry of the process that measures one subject, or several together: started by `forkMeasurement`, answers with one
// message, then ends.

import { portableSuites } from '../portable/portable-suites.ts';
import type { Answer, Assignment } from './fork-measurement.ts';
import { measureSubjects } from './measure-subjects.ts';
import type { Suite } from './suite.ts';

const { suite: name, subjects, part, scale } = JSON.parse(process.argv[2] ?? '{}') as Assignment;

/** What else there is needs packages that a portable bench does not have. */
async function suiteOf(name: string): Promise<Suite> {
  const isNamed = (suite: Suite) => suite.name === name;
  const suite = portableSuites.find(isNamed) ?? (await import('../suites.ts')).suites.find(isNamed);
  if (suite === undefined) throw new Error(`no suite is named ${name}`);
  return suite;
}

async function measure(): Promise<Answer> {
  try {
    return { measurements: await measureSubjects(await suiteOf(name), { subjects, part, scale }) };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

const answer = await measure();
process.send?.(answer, () => process.exit(answer.failure === undefined ? 0 : 1));
