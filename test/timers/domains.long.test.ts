import { expect, test } from 'vitest';
import { runOnFaces } from './run-on-face.ts';

/** What is noted is printed at the end, sorted: timers of several delays may come in any order on a busy machine. */
const preamble = `
  import domain from 'node:domain';
  const seen = [];
  const note = (...what) => seen.push(what.join(' '));
  process.on('exit', () => log(seen.sort().join('\\n')));
  const isNone = () => process.domain === null || process.domain === undefined;
  const guardOf = (name) => {
    const guard = domain.create();
    const isShown = (error) => Object.keys(error).includes('domain');
    return guard.on('error', (error) =>
      note(name, 'gets', error.message, error.domain === guard, error.domainThrown, isShown(error), error.domainEmitter, isNone()));
  };
  const thrower = (message) => () => { throw new Error(message); };`;

const gets = (name: string, message: string) => `${name} gets ${message} true true false  true`;

test.each([
  [
    'gets the errors of the timers that are set in it, with a ref and without, and of functions bound to it',
    `setTimeout(() => undefined, 50); // holds the process
     guardOf('1').run(() => setTimeout(thrower('timeout'), 1));
     guardOf('2').run(() => setTimeout(thrower('unref'), 1).unref());
     setTimeout(guardOf('3').bind(thrower('bound')), 1);
     guardOf('4').run(() => setImmediate(thrower('immediate')));
     setTimeout(() => guardOf('5').run(thrower('run')), 1);`,
    [gets('1', 'timeout'), gets('2', 'unref'), gets('3', 'bound'), gets('4', 'immediate'), gets('5', 'run')],
  ],
  [
    'is the innermost of those with a handler; the process gets what none does',
    `process.on('uncaughtException', ({ message }) => note('the process gets', message));
     guardOf('outer').run(() => domain.create().run(() => setTimeout(thrower('no inner handler'), 1)));
     domain.create().run(() => guardOf('inner').run(() => setTimeout(thrower('inner handler'), 1)));
     domain.create().run(() => setTimeout(thrower('no handler'), 1));
     setTimeout(thrower('no domain'), 1);`,
    [
      gets('inner', 'inner handler'),
      ...['no domain', 'no handler', 'no inner handler'].map((what) => `the process gets ${what}`),
    ],
  ],
  [
    'is left where a timer has thrown in it: those after it fire in their order, in their own',
    `guardOf('1st').run(() => setTimeout(thrower('thrown'), 1));
     for (const [name, delay] of [['2nd', 1], ['3rd', 2]]) setTimeout(() => note(name, 'after', seen.length, isNone()), delay);
     block(5);`,
    [gets('1st', 'thrown'), '2nd after 1 true', '3rd after 2 true'],
  ],
  [
    'goes along: from a tick to an interval, a timeout, a file; from a reaction of a promise; to a tick in a callback',
    `import fs from 'node:fs';
     const read = () => fs.stat('no such file', thrower('at the end'));
     guardOf('chain').run(() => process.nextTick(() => {
       const interval = setInterval(() => { clearInterval(interval); setTimeout(read, 1); }, 1);
     }));
     const other = guardOf('other'), check = (what) => note(what, process.domain === other);
     other.run(() => Promise.resolve().then(() => setTimeout(check, 1, 'promise')));
     setTimeout(() => other.run(() => process.nextTick(check, 'tick')), 1);`,
    [gets('chain', 'at the end'), 'promise true', 'tick true'],
  ],
])('a domain %s', async (_, program, expected) => {
  expect(await runOnFaces(preamble + program)).toMatchObject({ code: 0, lines: expected, stderr: '' });
});
