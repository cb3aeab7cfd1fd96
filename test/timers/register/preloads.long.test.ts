import { cp, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Ended } from '../../fixtures/child-process.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { programs, REGISTER, runNode, runProgram } from './run-program.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = temporaryFolder();
const AGENT = ['--import', `${programs}/agent.mjs`];
const [face, node] = [true, false].map((isFace) => Array.from({ length: 5 }, () => isFace));

const ways = [
  { way: '--import', flags: REGISTER, env: {} },
  { way: '--require', flags: ['--require', 'shardwheel/register'], env: {} },
  { way: '-r in NODE_OPTIONS', flags: [], env: { NODE_OPTIONS: '-r shardwheel/register' } },
  { way: '--import in NODE_OPTIONS', flags: [], env: { NODE_OPTIONS: REGISTER.join(' ') } },
  { way: '--require and --import', flags: ['--require', 'shardwheel/register', ...REGISTER], env: {} },
];

/** A program's own view: what it prints, in which order, with which names, keys and resources. */
const ordinary = `
  const { promisify } = require('util');
  const told = [];
  const kept = setTimeout(() => told.push('never'), 20);
  setTimeout(() => told.push('second'), 60);
  setTimeout((word) => told.push(word), 1, 'first');
  setImmediate(() => told.push('immediate'));
  told.push(setTimeout.name, setTimeout.length, typeof kept.ref, Object.keys(globalThis).join());
  told.push(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length);
  clearTimeout(kept);
  promisify(setTimeout)(150, 'promised').then((word) => {
    told.push(word);
    require('fs').writeSync(1, JSON.stringify(told.filter((each) => each !== 'immediate')));
  });
`;

const run = (code: string, flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  runNode([...flags, '--eval', code], env);

describe.each(ways)('registered by $way', ({ flags, env }) => {
  test('without an agent: registered, taken back, registered again, taken back', async () => {
    const stages = [face, node, face, node].map((doors) => ({ doors, isSeen: false }));
    expect(await runProgram('taken-back.mjs', { flags, env })).toEqual(stages);
  });

  test('a program prints what it prints in plain Node', async () => {
    expect(await run(ordinary, flags, env)).toEqual(await run(ordinary, []));
  });
});

// Node itself runs no --import in a worker whose text is given.
test.each(ways.filter(({ way }) => !way.startsWith('--import')))(
  'a worker is registered as well, and ends: $way',
  async ({ flags, env }) => {
    const code = `
      const { Worker } = require('worker_threads');
      const text = \`const classOf = (set) => { const handle = set(() => {}, 1); return handle.constructor; };
        const isOurs = classOf(setTimeout) === classOf(require('shardwheel/timers').setTimeout);
        setTimeout(() => require('worker_threads').parentPort.postMessage(isOurs), 1)\`;
      new Worker(text, { eval: true }).on('message', (isOurs) => require('fs').writeSync(1, String(isOurs)));`;
    expect(await run(code, flags, env)).toEqual({ code: 0, stdout: 'true', stderr: '' });
  },
);

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
});
