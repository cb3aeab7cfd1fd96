import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, runProgram, written } from './profile-program.ts';

/** What a program may do to what the recorder reads, before it sets a timer. */
const faults: Record<string, string> = {
  'its working folder is gone': `
    import { rmSync } from 'node:fs';
    process.chdir(process.env.LEFT);
    rmSync(process.env.LEFT, { recursive: true });`,
  'process.cwd throws': `process.cwd = () => { throw new Error('no cwd'); };`,
  'process.cwd has gone': 'delete process.cwd;',
  'Error is frozen': 'Object.freeze(Error);',
  'Error.prepareStackTrace throws': `Error.prepareStackTrace = () => { throw new Error('no trace'); };`,
  'Error is frozen, and Error.prepareStackTrace throws': `
    Error.prepareStackTrace = () => { throw new Error('no trace'); };
    Object.freeze(Error);`,
  'Error.prepareStackTrace cannot be read': `
    Object.defineProperty(Error, 'prepareStackTrace', { get() { throw new Error('no trace'); } });`,
  'Error.captureStackTrace throws': `Error.captureStackTrace = () => { throw new Error('no trace'); };`,
  'Error.stackTraceLimit cannot be read': `
    Object.defineProperty(Error, 'stackTraceLimit', { get() { throw new Error('no limit'); } });`,
};

/** Waits in each of the ways that are sampled, says that they have ended, and how Error is found after it. */
const work = `
  import { setTimeout as sleep } from 'node:timers/promises';
  const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.value;
  setTimeout(() => console.log('fired'), 20);
  const interval = setInterval(() => {
    console.log('again');
    clearInterval(interval);
  }, 30);
  sleep(40).then(() => console.log('slept', Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.value === before));
  process.exitCode = 3;`;

let runs = 0;

describe('a recorded program writes and ends as without the recorder, where', () => {
  test.each(Object.entries(faults))('%s', async (_, fault) => {
    const path = written(`${fault}\n${work}`);
    const ended = async (entries: readonly string[]) => {
      const left = join(folder, `left-${++runs}`);
      mkdirSync(left);
      return runProgram(path, entries, { LEFT: left, SHARDWHEEL_PROFILE_DIR: join(folder, `data-${runs}`) });
    };
    const expected = await ended([]);
    expect(expected).toEqual({ code: 3, output: 'fired\nagain\nslept true\n' });
    expect(await ended(['profile'])).toEqual(expected);
  });

  test('there are faults', () => expect(Object.keys(faults)).toHaveLength(9));
});
