import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Figure, Measurement, Scale, Suite } from '../../engine/suite.ts';
import { absentRuntimes, NODE, runtimeSubjects } from './runtimes.ts';

/** ms after which a runtime is given up. */
const PATIENCE = 300_000;

const twice = (operation: string, title: string): Figure[] => [
  { key: operation, title, unit: 'ns' },
  { key: `${operation}, CPU`, title: `${title}, CPU`, unit: 'ns' },
];

/** (l) The timers that people have, each on its own runtime. */
export const runtimes: Suite = {
  name: 'runtimes timers',
  title: 'Runtimes: the timers of Node, Bun and Deno, and of undici',
  codes: ['l', 'runtimes'],
  about:
    'The same plain script on each runtime: 1 M timers of 10 to 11 minutes are set; 500,000 times a random one is cleared and ' +
    'another set; 500,000 are set and cleared, 1,000 in a turn, the newest first; 500,000 random ones are refreshed, where ' +
    'timers can be. 1,000 in a turn of the loop, the turns included. Then 200,000 of 1 to 1.5 s are set and fire, from the last ' +
    'that is set to the last that fires. By the clock; CPU: of all threads. Bytes: growth of the process, 8 of the array included.',
  base: NODE,
  subjects: runtimeSubjects.map(({ name, note }) => ({ name, note })),
  figures: [
    ...twice('set', 'set'),
    ...twice('random', 'clear + set'),
    ...twice('newest', 'newest first'),
    ...twice('refresh', 'refresh'),
    { key: 'fire', title: 'fire, CPU', unit: 'ns' },
    { key: 'p50', title: 'late p50', unit: 'ms' },
    { key: 'p99', title: 'late p99', unit: 'ms' },
    { key: 'early', title: 'early', unit: 'of 200,000' },
    { key: 'bytes', title: 'resident', unit: 'B/timer' },
  ],
  absentees: ({ quick }) => absentRuntimes(runtimeSubjects, quick),
  run: measure,
};

async function measure(name: string, { quick }: Scale): Promise<Measurement> {
  const subject = runtimeSubjects.find((known) => known.name === name);
  if (subject === undefined) throw new Error(`no runtime is named ${name}`);
  const script = fileURLToPath(new URL(`./plain-load${import.meta.url.slice(-3)}`, import.meta.url));
  const binary = await subject.binary(quick);
  const argv = [...subject.flags, script, subject.timers, quick ? '0.01' : '1'];
  const { stdout } = await promisify(execFile)(binary, argv, { encoding: 'utf8', timeout: PATIENCE });
  const { figures } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}');
  return { figures, checksums: {} };
}
