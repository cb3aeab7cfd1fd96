import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { InstalledProject } from './installed-project.ts';

/** Imports without an extension, as CommonJS hooks resolve them. */
const [FIRED, WORD] = ['./lib/fired', './word'];

/**
 * Says whose handles the global makes, runs a timer of it, and takes the registration back. TypeScript, with paths that
 * only a hook resolves.
 */
const app = `
import { fired } from '${FIRED}';
import * as timers from 'shardwheel/timers';
import { unregister } from 'shardwheel/register';

const classOf = (set: Function): unknown => {
  const handle = set(() => undefined, 1);
  timers.clearTimeout(handle);
  return handle.constructor;
};
const isOurs = (): boolean => classOf(setTimeout) === classOf(timers.setTimeout);
const during: boolean = isOurs();
fired(5).then((word: string) => {
  unregister();
  console.log(JSON.stringify({ during, word, after: isOurs() }));
});
`;

const OURS = ['-r', 'shardwheel/register'];
const HOOK = ['-r', 'esbuild-register'];
const orders = [
  { order: 'before the hook', flags: [...OURS, ...HOOK] },
  { order: 'after the hook', flags: [...HOOK, ...OURS] },
];
const registered = { status: 0, stdout: '{"during":true,"word":"fired","after":false}\n', stderr: '' };

const project = new InstalledProject('esbuild-register@3', 'esbuild@0.25');
project.write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'commonjs' }));
project.write('lib/fired.ts', ["export { fired } from '", WORD, "';\n"].join(''));
project.write(
  'lib/word.ts',
  "export const fired = (ms: number) => new Promise<string>((resolve) => setTimeout(resolve, ms, 'fired'));\n",
);
project.write('app.ts', app);

/** Runs Node in the project. */
function run(argv: readonly string[], options: readonly string[] = []) {
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd: project.folder,
    env: { ...process.env, SHARDWHEEL_TIMERS: 'always', NODE_OPTIONS: ['--no-deprecation', ...options].join(' ') },
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  return { status, stdout, stderr };
}

describe.each(orders)('registered $order', ({ flags }) => {
  test('a program in TypeScript runs, has its timers, and takes them back', () => {
    expect(run([...flags, 'app.ts'])).toEqual(registered);
  });

  test('NODE_OPTIONS does the same', () => {
    expect(run(['app.ts'], flags)).toEqual(registered);
  });
});
