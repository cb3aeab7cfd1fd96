// Entry of the process that measures one subject, or several together: started by `forkMeasurement`, answers with one message, then ends.

import { suites } from '../suites.ts';
import type { Answer, Assignment } from './fork-measurement.ts';
import { measureSubjects } from './measure-subjects.ts';

const { suite: name, subjects, part, scale } = JSON.parse(process.argv[2] ?? '{}') as Assignment;

async function measure(): Promise<Answer> {
  try {
    const suite = suites.find((known) => known.name === name);
    if (suite === undefined) throw new Error(`no suite is named ${name}`);
    return { measurements: await measureSubjects(suite, { subjects, part, scale }) };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

const answer = await measure();
process.send?.(answer, () => process.exit(answer.failure === undefined ? 0 : 1));
