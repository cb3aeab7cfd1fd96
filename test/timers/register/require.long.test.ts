import { describe, expect, test } from 'vitest';
import type { Ended } from '../../fixtures/child-process.ts';
import { runNode } from './run-program.ts';

const IMPORT = ['--import', 'shardwheel/register'];
const ways = [
  { way: '--require', flags: ['--require', 'shardwheel/register'], env: {} },
  { way: '-r in NODE_OPTIONS', flags: [], env: { NODE_OPTIONS: '-r shardwheel/register' } },
  { way: '--import in NODE_OPTIONS', flags: [], env: { NODE_OPTIONS: IMPORT.join(' ') } },
  { way: '--require and --import', flags: ['--require', 'shardwheel/register', ...IMPORT], env: {} },
];

/** By the classes of handles: which of the program's ways to a timer are the face's. */
const doors = `
  const dropIn = require('shardwheel/timers');
  const { register, unregister } = require('shardwheel/register');
  const { setTimeout: taken } = require('node:timers');
  const classOf = (set, clear) => {
    const handle = set(() => {}, 1e6);
    clear(handle);
    return handle.constructor;
  };
  const ours = classOf(dropIn.setTimeout, dropIn.clearTimeout);
  const look = () =>
    [setTimeout, setInterval, require('timers').setTimeout, taken].map((set) => classOf(set, clearTimeout) === ours);
  const seen = [look()];
  unregister();
  seen.push(look());
  register();
  seen.push(look());
  unregister();
  const { value, ...flags } = Object.getOwnPropertyDescriptor(globalThis, 'setTimeout');
  require('fs').writeSync(1, JSON.stringify({ seen, name: value.name, ...flags }));
`;

/** A program's own view: what it prints, in which order, with which names, keys and resources. */
const ordinary = `
  const { promisify } = require('util');
  const told = [];
  const kept = setTimeout(() => told.push('never'), 20);
  setTimeout(() => told.push('second'), 4);
  setTimeout((word) => told.push(word), 1, 'first');
  setImmediate(() => told.push('immediate'));
  told.push(setTimeout.name, setTimeout.length, typeof kept.ref, Object.keys(globalThis).join());
  told.push(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length);
  clearTimeout(kept);
  promisify(setTimeout)(30, 'promised').then((word) => {
    told.push(word);
    require('fs').writeSync(1, JSON.stringify(told.filter((each) => each !== 'immediate')));
  });
`;

const run = (code: string, flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  runNode([...flags, '--eval', code], env);

describe.each(ways)('registered by $way', ({ flags, env }) => {
  test('globals and modules are taken, given back and taken again as with --import', async () => {
    const by = await run(doors, flags, env);
    expect(by).toEqual(await run(doors, IMPORT));
    const [taken, givenBack, again] = JSON.parse(by.stdout).seen;
    expect([taken.slice(0, 3), givenBack, again.slice(0, 3)]).toEqual([
      [true, true, true],
      [false, false, false, false],
      [true, true, true],
    ]);
  });

  test('a program prints what it prints in plain Node', async () => {
    expect(await run(ordinary, flags, env)).toEqual(await run(ordinary, []));
  });
});

// Node itself runs no --import in a worker whose text is given.
test.each(ways.filter(({ way }) => way !== '--import in NODE_OPTIONS'))(
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
