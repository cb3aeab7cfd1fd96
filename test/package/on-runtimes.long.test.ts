import { afterAll, beforeAll, expect, test } from 'vitest';
import { wentWell } from './fired-on-threads.ts';
import { InstalledProject } from './installed-project.ts';

/** As `fired-on-threads.ts` has it, without the drop-in timers, which are refused there. */
const program = `
import { createScheduler } from 'shardwheel';
import { createWheel } from 'shardwheel/wheel';

const scheduler = createScheduler({ shards: 2 });
await scheduler.ready;
let fired = 0;
const fire = () => { fired += 1; };
for (let hint = 0; hint < 100; hint++) scheduler.scheduleAfter(hint, 20, fire);
await new Promise((resolve) => scheduler.scheduleAfter(1, 60, resolve));
const { serving, shards } = await scheduler.stats();
const isInline = shards.some(({ inline }) => inline);
const deaths = shards.reduce((sum, shard) => sum + shard.deaths, 0);
console.log(JSON.stringify({ fired, by: serving.by, isInline, deaths, wheel: createWheel('blitz').size }));
`;

const pending = `
import { createScheduler } from 'shardwheel';
createScheduler({ shards: Number(process.argv[2]) }).scheduleAfter('hint', 300, (word) => console.log(word), 'fired');
`;

let project: InstalledProject;
beforeAll(() => {
  project = new InstalledProject(['bun@1.4.5', 'deno@2.9.6']);
  project.write('main.mjs', program);
  project.write('pending.mjs', pending);
}, 200_000);
afterAll(() => project[Symbol.dispose]());

test.each([
  ['Bun', 'on threads', ['bun']],
  ['Deno', 'inline', ['deno', 'run', '--allow-all']],
])('%s fires timers %s, and ends by itself', (_, where, argv) => {
  const { status, stdout, stderr } = project.try('npx', [...argv, 'main.mjs']);
  expect({ status, stdout, stderr: status === 0 ? '' : stderr }).toEqual({
    status: 0,
    stdout: `${JSON.stringify(where === 'inline' ? { ...wentWell, by: 'inline', isInline: true } : wentWell)}\n`,
    stderr: '',
  });
  for (const shards of ['0', '1', '2']) {
    const { status, stdout } = project.try('npx', [...argv, 'pending.mjs', shards]);
    expect({ shards, status, stdout }).toEqual({ shards, status: 0, stdout: 'fired\n' });
  }
});
