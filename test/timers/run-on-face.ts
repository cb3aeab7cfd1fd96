import { expect } from 'vitest';
import { type Ended, runNode, runText } from '../fixtures/child-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

interface Way {
  readonly flags?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

const preload = (entry: string) => ['--import', `shardwheel/${entry}`];

/** What programs of processes of their own run on: see programs/face-of.mjs. Node is right. */
const ways = {
  'node:timers': {},
  'shardwheel/timers': {},
  // What Node does not document may go: then each timeout has an immediate of its own.
  'without process._tickCallback': { flags: ['--import', 'data:text/javascript,delete process._tickCallback'] },
  inline: {},
  registered: { flags: preload('register'), env: { SHARDWHEEL_TIMERS: 'always' } },
  'registered, Node first': { flags: preload('register') },
  'registered, across the take-over': { flags: preload('register'), env: { SHARDWHEEL_TIMERS_FROM: '8' } },
  'registered, from the second timer': { flags: preload('register'), env: { SHARDWHEEL_TIMERS_FROM: '2' } },
  profiled: { flags: preload('profile'), env: { SHARDWHEEL_PROFILE_DIR: temporaryFolder() } },
} satisfies Record<string, Way>;
export type Face = keyof typeof ways;

/** ms after which a process is ended that goes on: of many programs, of one. */
const PATIENCE = 120_000;
const SHORT_PATIENCE = 20_000;

/**
 * Runs `programs/<name>` on a face in a process of its own. It gets many programs by its standard input, one by an
 * argument.
 */
export function runOnFace(name: string, face: Face, given: { input?: unknown; argument?: unknown }): Promise<Ended> {
  const { flags = [], env }: Way = ways[face];
  const program = [`test/timers/programs/${name}`, face, JSON.stringify(given.argument ?? null)];
  return runNode([...flags, ...program], {
    env: { NODE_OPTIONS: '', ...env },
    limit: given.argument === undefined ? PATIENCE : SHORT_PATIENCE,
    onStart: ({ stdin }) => {
      stdin?.on('error', () => undefined); // it has ended before it had read all, and its code says why
      stdin?.end(JSON.stringify(given.input ?? null));
    },
  });
}

/**
 * Whether a program that has differed from Node on a face does so again. On a loaded machine a callback comes before
 * another or behind it, on Node as on a face: so some run on one must be as some run on the other.
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

/** What programs given as text run on: those that are preloaded they know nothing of. */
const textFaces = [
  'node:timers',
  'shardwheel/timers',
  'without process._tickCallback',
  'registered',
  'registered, from the second timer',
  'profiled',
] as const;
const imported: readonly Face[] = ['shardwheel/timers', 'without process._tickCallback'];

/**
 * Runs a program on every face, each in a process of its own. It has the functions of `timers`, `AsyncLocalStorage`,
 * `log`, and `block`, which keeps the loop busy for some ms. What it prints and how it ends must be as on Node; what it
 * writes to stderr is Node's own.
 */
export async function runOnFaces(program: string): Promise<Ended & { lines: string[] }> {
  const runOn = (face: Face) => {
    const { flags, env }: Way = ways[face];
    const text = `import timers from '${imported.includes(face) ? 'shardwheel/timers' : 'node:timers'}';
      import { AsyncLocalStorage } from 'node:async_hooks';
      const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, promises } = timers;
      const log = (...what) => console.log(...what);
      const block = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };
      ${program}`;
    return runText(text, flags, { NODE_OPTIONS: '', ...env });
  };
  const [right, ...others] = await Promise.all(textFaces.map(runOn));
  for (const [at, { code, stdout, stderr }] of others.entries()) {
    const found = { face: textFaces[at + 1], code, stdout, isSilent: stderr === '' };
    expect(found).toEqual({ ...found, code: right.code, stdout: right.stdout, isSilent: right.stderr === '' });
  }
  return { ...right, lines: right.stdout.split('\n').filter(Boolean) };
}
