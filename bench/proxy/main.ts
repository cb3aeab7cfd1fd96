import { Child } from './child.ts';
import { measure } from './measure.ts';
import { type Options, parseOptions } from './options.ts';
import { printTables } from './print-tables.ts';
import { merge, type Summary, summarize } from './summary.ts';

const options = parseOptions(process.argv);
const summary = options.processes === 1 ? await runAlone(options) : merge(await runShares(options));
printTables(summary);
const { verdict, timersLeft, clientsLeft } = summary;
if (verdict.faults.length > 0 || timersLeft > 0 || clientsLeft > 0) process.exitCode = 1;

async function runAlone(options: Options): Promise<Summary> {
  return summarize(await measure(options, async () => undefined), options);
}

/** Each process has its share, and all go on when all of their connections stand. */
async function runShares(options: Options): Promise<Summary[]> {
  const { processes } = options;
  const share = (count: number): number => Math.ceil(count / processes);
  const ofEach: Options = {
    ...options,
    connections: share(options.connections),
    parallel: share(options.parallel),
    standing: share(options.standing),
  };
  const children = Array.from({ length: processes }, () => new Child('share'));
  try {
    for (const child of children) child.send(ofEach);
    await Promise.all(children.map((child) => child.answer<'standing'>()));
    for (const child of children) child.send({});
    return await Promise.all(children.map((child) => child.answer<Summary>()));
  } finally {
    await Promise.all(children.map((child) => child.close()));
  }
}
