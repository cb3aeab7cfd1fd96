import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';
import { type Ended, runText } from '../fixtures/child-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const preload = (entry: string) => ['--import', new URL(`../../lib/${entry}.js`, import.meta.url).href];

/** What programs of processes of their own run on: see programs/face-of.mjs. Node is right. */
export const faces = [
  'node:timers',
  'shardwheel/timers',
  'inline',
  'registered',
  'registered, Node first',
  'registered, across the take-over',
] as const;
export type Face = (typeof faces)[number];

const environments: Partial<Record<Face, NodeJS.ProcessEnv>> = {
  registered: { SHARDWHEEL_TIMERS: 'always' },
  'registered, across the take-over': { SHARDWHEEL_TIMERS_FROM: '8' },
};

const flagsOf = (face: Face): string[] => (face.startsWith('registered') ? preload('register') : []);

/** ms after which a process is ended that goes on: of many programs, of one. */
const PATIENCE = 120_000;
const SHORT_PATIENCE = 20_000;

/** Runs `programs/<name>` on a face in a process of its own. It gets many programs by its standard input, one by an argument. */
export async function runOnFace(
  name: string,
  face: Face,
  given: { input?: unknown; argument?: unknown },
): Promise<Ended> {
  const child = spawn(
    process.execPath,
    [...flagsOf(face), `test/timers/programs/${name}`, face, JSON.stringify(given.argument ?? null)],
    {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', ...environments[face] },
      timeout: given.argument === undefined ? PATIENCE : SHORT_PATIENCE,
      killSignal: 'SIGKILL',
    },
  );
  child.stdin.on('error', () => undefined); // it has ended before it had read all, and its code says why
  child.stdin.end(JSON.stringify(given.input ?? null));
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

/**
 * Whether a program that has differed from Node on a face does so again. On a loaded machine a callback comes before another or behind
 * it, on Node as on a face: so some run on one must be as some run on the other.
 */
export async function differsAgain(run: (face: Face) => Promise<unknown>, face: Face): Promise<boolean> {
  const runs = async (subject: Face) => {
    const found: string[] = [];
    for (let i = 0; i < 4; i++) found.push(JSON.stringify(await run(subject)));
    return found;
  };
  const [right, got] = [await runs('node:timers'), await runs(face)];
  return !got.some((each) => right.includes(each));
}

const folder = mkdtempSync(join(tmpdir(), 'timers-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What programs given as text run on: those that are preloaded they know nothing of. The first is right. */
const textFaces = [
  { face: 'node:timers', flags: [], env: {} },
  { face: 'shardwheel/timers', flags: [], env: {} },
  { face: 'registered', flags: preload('register'), env: { SHARDWHEEL_TIMERS: 'always' } },
  { face: 'taken over from the second timer', flags: preload('register'), env: { SHARDWHEEL_TIMERS_FROM: '2' } },
  { face: 'profiled', flags: preload('profile'), env: { SHARDWHEEL_PROFILE_DIR: folder } },
];

/**
 * Runs a program on every face, each in a process of its own. It has the functions of `timers`, `AsyncLocalStorage`, `log`, and `block`,
 * which keeps the loop busy for some ms. What it prints and how it ends must be as on Node; what it writes to stderr is Node's own.
 */
export async function runOnFaces(program: string): Promise<Ended & { lines: string[] }> {
  const runOn = ({ face, flags, env }: (typeof textFaces)[number]) => {
    const text = `import timers from '${face === 'shardwheel/timers' ? face : 'node:timers'}';
      import { AsyncLocalStorage } from 'node:async_hooks';
      const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, promises } = timers;
      const log = (...what) => console.log(...what);
      const block = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };
      ${program}`;
    return runText(text, flags, { NODE_OPTIONS: '', ...env });
  };
  const [right, ...others] = await Promise.all(textFaces.map(runOn));
  for (const [at, { code, stdout, stderr }] of others.entries()) {
    const found = { ...textFaces[at + 1], code, stdout, isSilent: stderr === '' };
    expect(found).toEqual({ ...found, code: right.code, stdout: right.stdout, isSilent: right.stderr === '' });
  }
  return { ...right, lines: right.stdout.split('\n').filter(Boolean) };
}
