import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { SubjectEntry } from '../../engine/suite.ts';
import { nodeBinary } from '../../replay/node-release.ts';
import { registryBinary } from '../../replay/registry-binary.ts';

/** Timers on a runtime: the subjects. */
export interface RuntimeSubject extends SubjectEntry {
  /** The path of the runtime's program. Throws where there is none; `offline`: the registry is not asked. */
  binary(offline: boolean): Promise<string>;
  /** What stands before the script. */
  readonly flags: readonly string[];
  /** `globals`, or the module that has the timers. */
  readonly timers: string;
}

/** Releases of Node that take part. */
const releases = [20, 22, 24, 26] as const;
const REFERENCE = 24 satisfies (typeof releases)[number];

const OURS = new URL(`../../../src/entries/timers${import.meta.url.slice(-3)}`, import.meta.url).href;
const FAST = pathToFileURL(createRequire(import.meta.url).resolve('undici/lib/util/timers.js')).href;

type Binary = RuntimeSubject['binary'];

/** Asks once. */
const kept = (find: Binary): Binary => {
  const found = new Map<boolean, Promise<string>>();
  return (offline) => {
    const known = found.get(offline) ?? find(offline);
    found.set(offline, known);
    return known;
  };
};

const nodes = new Map(releases.map((release) => [release, kept((offline) => nodeBinary(String(release), offline))]));
const bun = kept((offline) =>
  registryBinary({ package: 'bun@1', where: ['bun', '-e', 'console.log(process.execPath)'] }, offline),
);
const deno = kept((offline) =>
  registryBinary({ package: 'deno@2', where: ['deno', 'eval', 'console.log(Deno.execPath())'] }, offline),
);
const denoFlags = ['run', '--quiet', '--allow-all', '--no-config', '--v8-flags=--expose-gc'];

const onNode = (release: (typeof releases)[number], timers: string, name: string, note?: string): RuntimeSubject => ({
  name: `${name}, Node ${release}`,
  ...(note === undefined ? {} : { note }),
  binary: nodes.get(release)!,
  flags: ['--expose-gc'],
  timers,
});

export const NODE = `node:timers, Node ${REFERENCE}`;

export const runtimeSubjects: readonly RuntimeSubject[] = [
  ...releases.map((release) => onNode(release, 'globals', 'node:timers')),
  ...releases.map((release) => onNode(release, OURS, 'shardwheel', 'shardwheel/timers as it is imported')),
  onNode(
    REFERENCE,
    FAST,
    "undici's fast timers",
    'ticks of 499 ms: up to as much early, and up to a second late, by design',
  ),
  { name: 'Bun 1', note: 'its global setTimeout', binary: bun, flags: ['run'], timers: 'globals' },
  { name: 'Deno 2', note: 'its global setTimeout', binary: deno, flags: denoFlags, timers: 'globals' },
  {
    name: 'Deno 2, node:timers',
    note: "Deno's own node:timers",
    binary: deno,
    flags: denoFlags,
    timers: 'node:timers',
  },
];

/** The runtimes that are not available, or do not start, on this machine, and why. */
export async function absentRuntimes(
  subjects: readonly RuntimeSubject[],
  offline: boolean,
): Promise<Record<string, string>> {
  const absent: Record<string, string> = {};
  for (const { name, binary } of subjects) {
    await binary(offline).catch(({ message }: Error) => {
      absent[name] = message;
    });
  }
  return absent;
}
