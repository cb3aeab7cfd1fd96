import { expect, test } from 'vitest';
import { program, wentWell } from './fired-on-threads.ts';
import { InstalledProject } from './installed-project.ts';

/** Without the drop-in timers, which are refused there. */
const withoutDropIn = program.replaceAll(/^.*\bsetTimeout\b.*\n/gm, '');

const pending = `
import { createScheduler } from 'shardwheel';
createScheduler({ shards: Number(process.argv[2]) }).scheduleAfter('hint', 300, (word) => console.log(word), 'fired');
`;

const project = new InstalledProject('bun@1.4.5', 'deno@2.9.6');
project.write('main.mjs', withoutDropIn);
project.write('pending.mjs', pending);

test.each([
  ['Bun', 'on threads', ['bun'], wentWell],
  ['Deno', 'inline', ['deno', 'run', '--allow-all'], { ...wentWell, by: 'inline', isInline: true }],
])('%s fires timers %s, and ends by itself', (_name, _where, argv, expected) => {
  const { status, stdout, stderr } = project.try('npx', [...argv, 'main.mjs']);
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: `${JSON.stringify(expected)}\n` });
  for (const shards of ['0', '1', '2']) {
    const { status, stdout } = project.try('npx', [...argv, 'pending.mjs', shards]);
    expect({ shards, status, stdout }).toEqual({ shards, status: 0, stdout: 'fired\n' });
  }
});
