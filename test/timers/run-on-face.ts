import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const register = new URL('../../lib/register.js', import.meta.url).href;

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

/** ms after which a process is ended that goes on: of many programs, of one. */
const PATIENCE = 120_000;
const SHORT_PATIENCE = 20_000;

export interface Outcome {
  /** Null where a signal ended the process, as one does that outlives its time limit. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `programs/<name>` on a face in a process of its own. It gets many programs by its standard input, one by an argument. */
export async function runOnFace(
  name: string,
  face: Face,
  given: { input?: unknown; argument?: unknown },
): Promise<Outcome> {
  const flags = face.startsWith('registered') ? ['--import', register] : [];
  const child = spawn(
    process.execPath,
    [...flags, `test/timers/programs/${name}`, face, JSON.stringify(given.argument ?? null)],
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
