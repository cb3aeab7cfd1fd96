import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { programs, REGISTER, runProgram } from './run-program.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const AGENT = ['--import', `${programs}/agent.mjs`];
const [face, node] = [true, false].map((isFace) => Array.from({ length: 4 }, () => isFace));

test('without an agent: registered, taken back, registered again, taken back', async () => {
  const stages = [face, node, face, node].map((doors) => ({ doors, isSeen: false }));
  expect(await runProgram('taken-back.mjs', { flags: REGISTER })).toEqual(stages);
});

test('an agent before: its wrappers give way, and come back', async () => {
  const stages = [
    { doors: face, isSeen: false, stands: false },
    { doors: node, isSeen: true, stands: true },
    { doors: face, isSeen: false, stands: false },
    { doors: node, isSeen: true, stands: true },
  ];
  const run = { flags: [...AGENT, ...REGISTER], env: { AGENT: '1' } };
  expect(await runProgram('taken-back.mjs', run)).toEqual(stages);
});

test('an agent after: its wrappers stay, and what they wrap is the face while it is registered', async () => {
  const stages = [face, node, face, node].map((doors) => ({ doors, isSeen: true, stands: true }));
  const run = { flags: [...REGISTER, ...AGENT], env: { AGENT: '1' } };
  expect(await runProgram('taken-back.mjs', run)).toEqual(stages);
});

test('taken back, every property is as it was, and the timers that were set go on', async () => {
  expect(await runProgram('as-before.mjs')).toEqual(['by a kept function', 'set before', 'slept']);
});

test('a second copy of the package neither registers again nor runs on the first', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shardwheel-copy-'));
  try {
    await cp(`${root}/lib`, `${folder}/lib`, { recursive: true });
    await symlink(`${root}/node_modules`, `${folder}/node_modules`, 'dir');
    await writeFile(`${folder}/package.json`, '{ "name": "shardwheel", "type": "module" }');
    const copy = pathToFileURL(`${folder}/lib/`).href;
    expect(await runProgram('two-copies.mjs', { flags: REGISTER, env: { COPY: copy } })).toEqual({
      registered: [1, 0],
      ofTheCopy: [0, 1],
      natives: true,
      takenBackByTheCopy: [0, 0],
      registeredByTheCopy: [0, 1],
      takenBack: [0, 0],
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
