import * as nodes from 'node:timers';
import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

const names = Object.entries({ ...nodes, ...nodes.promises })
  .filter(([, value]) => typeof value === 'function')
  .map(([name]) => name);
const registered = ['--import', 'shardwheel/register'];

/** A program with the functions of `face`; those of `nodes` are what the program finds in node:timers. */
const program = (face: string, text: string) => `
  import nodes from 'node:timers';
  import timers from '${face}';
  process.noDeprecation = true;
  const log = (...what) => console.log(...what);
  ${text}`;

test('every function of node:timers is among these, and those that Node has up to 22', () => {
  expect(names.length).toBeGreaterThanOrEqual(6);
  expect(names.includes('active')).toBe(Number.parseInt(process.versions.node, 10) < 24);
});

describe.each([
  ['imported', 'shardwheel/timers', [], {}],
  ['registered', 'node:timers', registered, { SHARDWHEEL_TIMERS: 'always' }],
])('%s: what a function of node:timers does with a handle of ours', (_, face, flags, env) => {
  test.each(names)('%s returns to the event loop', async (name) => {
    const { code, stdout, stderr } = await runText(
      program(
        face,
        `process.on('exit', () => log('exit'));
         const watch = nodes.setTimeout(() => { log('later'); process.exit(); }, 200);
         for (const set of ['setTimeout', 'setInterval']) {
           for (const isRef of [true, false]) {
             const handle = timers[set](() => log('fired'), 20);
             if (!isRef) handle.unref();
             try {
               (nodes.${name} ?? nodes.promises.${name})(handle, 20)?.catch?.(() => {});
             } catch ({ code, message }) {
               log(code, message.includes('refresh()'));
             }
           }
         }`,
      ),
      flags,
      { NODE_OPTIONS: '', ...env },
    );
    const isRefused = face !== 'node:timers' && ['active', '_unrefActive', 'enroll'].includes(name);
    const lines = stdout.trim().split('\n');
    expect({ code, stderr, last: lines.slice(-2) }).toEqual({ code: 0, stderr: '', last: ['later', 'exit'] });
    expect(lines.filter((line) => line === 'ERR_INVALID_ARG_TYPE true').length).toBe(isRefused ? 4 : 0);
  });
});

const hasEnroll = names.includes('enroll');

describe.skipIf(!hasEnroll)('active, enroll and their kin, registered, as with Node', () => {
  test.each([
    [
      'active restarts it',
      `const t = set('a', 500); at(300, () => { nodes.active(t); at(230, log, 'b'); });`, // 'a' 270 ms after 'b'
      ['b', 'a'],
    ],
    [
      'active gives it a ref, _unrefActive takes it',
      `const one = set('one', 60).unref(), two = set('two', 60000);
       log(nodes.active(one), nodes._unrefActive(two), one.hasRef(), two.hasRef());`,
      ['undefined undefined true false', 'one'],
    ],
    [
      'active sets what has fired again, and not what was cleared',
      `const one = set('one', 5), two = set('two', 5); nodes.clearTimeout(two);
       at(60, () => { nodes.active(one); nodes.active(two); });`,
      ['one', 'one'],
    ],
    [
      'enroll ends its wait, and gives it a delay for active',
      `const one = set('one', 20), two = set('two', 20); nodes.enroll(one, 100); nodes.enroll(two, 5);
       log(one._idleTimeout, two._idleTimeout); nodes.active(one); at(60, log, 'between');`,
      ['100 5', 'between', 'one'],
    ],
    [
      'unenroll ends its wait; it may be enrolled again',
      `const one = set('one', 20), two = set('two', 20); nodes.unenroll(one); nodes.unenroll(two); nodes.active(two);
       log(one._idleTimeout, one._destroyed); nodes.enroll(one, 5); nodes.active(one);`,
      ['-1 true', 'one'],
    ],
    [
      'an interval goes on',
      `let calls = 0;
       const each = nodes.setInterval(() => { log('call'); if ((calls += 1) === 3) each.close(); }, 5); nodes.active(each);`,
      ['call', 'call', 'call'],
    ],
    [
      'what enroll refuses',
      `for (const delay of [-1, 'x', undefined]) try { nodes.enroll(set('x', 60000).unref(), delay); log(delay); } catch ({ code }) { log(code); }`,
      ['ERR_OUT_OF_RANGE', 'ERR_INVALID_ARG_TYPE', 'ERR_INVALID_ARG_TYPE'],
    ],
    [
      'they warn',
      `process.noDeprecation = false; process.removeAllListeners('warning');
       process.on('warning', ({ code }) => log(code)); nodes.active(set('one', 60));`,
      ['DEP0126', 'one'],
    ],
  ])('%s', async (_, text, lines) => {
    const whole = program(
      'node:timers',
      `const set = (name, delay) => timers.setTimeout(log, delay, name);
       const at = (delay, ...what) => void timers.setTimeout(what[0], delay, ...what.slice(1));
       ${text}`,
    );
    const expected = { code: 0, stdout: lines.map((line) => `${line}\n`).join(''), stderr: '' };
    expect(await runText(whole, [], { NODE_OPTIONS: '' })).toEqual(expected);
    expect(await runText(whole, registered, { NODE_OPTIONS: '', SHARDWHEEL_TIMERS: 'always' })).toEqual(expected);
  });
});
