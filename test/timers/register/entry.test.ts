import { expect, test } from 'vitest';
import { programs, REGISTER, runNode, runProgram } from './run-program.ts';

interface Doors {
  found: Record<string, boolean>;
  alike: boolean[];
  used: boolean;
}

const doorsWith = async (flags: readonly string[], env?: NodeJS.ProcessEnv) =>
  (await runProgram('every-door.mjs', { flags, env })) as Doors;

test.each([
  ['--import', REGISTER, {}],
  ['NODE_OPTIONS', [], { NODE_OPTIONS: '--import shardwheel/register' }],
  ['--import twice', [...REGISTER, ...REGISTER], {}],
  ['--require', ['--require', 'shardwheel/register'], {}],
  ['after a module that has imported the timers', ['--import', `${programs}/probe.mjs`, ...REGISTER], {}],
])('%s: every way to a timer leads to the face', async (_, flags, env) => {
  const { found, alike, used } = await doorsWith(flags, env);
  expect(Object.keys(found).length).toBe(21);
  expect(Object.entries(found).filter(([, isFace]) => !isFace)).toEqual([]);
  expect(alike).toEqual([true, true, true, true]);
  expect(used).toBe(true);
});

test('without it none does', async () => {
  const { found, used } = await doorsWith([]);
  expect(Object.values(found)).not.toContain(true);
  expect(used).toBe(false);
});

test("what is replaced has the name, length, flags and refusals of Node's", async () => {
  expect(await runProgram('shapes.cjs', { flags: REGISTER })).toEqual(await runProgram('shapes.cjs'));
});

const which = `import('${programs}/probe.mjs').then(({ isFace }) => console.log(isFace(() => clearTimeout(setTimeout(() => {}, 1)))))`;

test.each([
  ['--eval', ['--eval', which]],
  ['--eval of a module', ['--input-type=module', '--eval', which]],
  ['--print', ['--print', `${which} && 'printed'`]],
])('node %s runs on the face', async (_, given) => {
  const { code, stdout, stderr } = await runNode([...REGISTER, ...given]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.replace('printed', '').trim()).toBe('true');
});

test('node --test runs on the face, in a process per file and its own time limits', async () => {
  const file = `${programs}/node-test.mjs`;
  const ended = await runNode([...REGISTER, '--test', '--test-reporter=tap', file]);
  expect({ ...ended, stdout: undefined }).toEqual({ code: 0, stdout: undefined, stderr: '' });
  expect(ended.stdout).toMatch(/# pass 3\n# fail 0/);
});
