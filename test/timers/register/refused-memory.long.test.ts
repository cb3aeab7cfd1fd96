import { expect, test } from 'vitest';
import { REGISTER, runNode } from './run-program.ts';

/**
 * What a registered program prints, as JSON, and what it was warned of. Memory of the kinds in `refused` is refused
 * meanwhile.
 */
async function printed(program: string, mode = ''): Promise<unknown> {
  const text = `import { registration } from 'shardwheel/register';
    const refused = new Set();
    let refusals = 0;
    for (const name of ['SharedArrayBuffer', 'Int32Array']) {
      globalThis[name] = new Proxy(globalThis[name], {
        construct(Memory, given) {
          if (refused.has(name) && given[0] !== 0) {
            refusals += 1;
            throw new RangeError('Array buffer allocation failed');
          }
          return Reflect.construct(Memory, given);
        },
      });
    }
    let [fired, thrown, calls] = [0, 0, 0];
    const set = (count, delay = 1500) => {
      for (let i = 0; i < count; i++) try { setTimeout(() => { fired += 1; }, delay); } catch { thrown += 1; }
    };
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const turns = async (count) => { for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve)); };
    const warnings = [];
    process.on('warning', ({ code }) => warnings.push(code));
    ${program}`;
  const given = ['--no-warnings', ...REGISTER, '--input-type=module', '--eval', text];
  const { code, stdout, stderr } = await runNode(given, { SHARDWHEEL_TIMERS: mode, SHARDWHEEL_TIMERS_FROM: '1000' });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

test('where the wheel cannot be made, Node serves, and the wheel later', async () => {
  const found = await printed(`
    refused.add('SharedArrayBuffer');
    for (let round = 0; round < 20; round++) { set(1000); await turns(2); }
    const under = registration();
    refused.clear();
    while (fired < 20_000) await sleep(20);
    await sleep(1500);
    for (let round = 0; round < 3; round++) { set(2000, 50); await turns(3); }
    const after = registration();
    while (fired < 26_000) await sleep(20);
    process.stdout.write(JSON.stringify([under.serving, under.reason, refusals, thrown, warnings, after.serving]));`);
  const reason = expect.stringContaining('Array buffer allocation failed');
  expect(found).toEqual(['node', reason, expect.any(Number), 0, ['SHARDWHEEL_WITHOUT_WHEEL'], 'wheel']);
  expect((found as number[])[2]).toBeLessThan(3); // it is tried after pauses, not for each timer
});

test.each(['', 'always'])('where the wheel takes no further timer, Node does: SHARDWHEEL_TIMERS=%s', async (mode) => {
  const found = await printed(
    `import { setTimeout as slept, setInterval as every } from 'node:timers/promises';
    for (let round = 0; round < 3; round++) { set(2000); await turns(3); }
    const before = registration().serving;
    refused.add('Int32Array');
    set(50_000);
    const waits = [slept(20, 'slept'), every(20, 'called').next().then(({ value }) => value)];
    const interval = setInterval(() => { calls += 1; if (calls === 3) clearInterval(interval); }, 5);
    const under = registration();
    refused.clear();
    const values = await Promise.all(waits);
    while (fired < 56_000 || calls < 3) await sleep(20);
    process.stdout.write(JSON.stringify([before, under.serving, refusals > 0, thrown, warnings, values, calls]));
    process.exit(); // the interval of promises is not ended`,
    mode,
  );
  expect(found).toEqual(['wheel', 'node', true, 0, ['SHARDWHEEL_WITHOUT_WHEEL'], ['slept', 'called'], 3]);
});
