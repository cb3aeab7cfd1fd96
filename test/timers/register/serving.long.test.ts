import { expect, test } from 'vitest';
import { REGISTER, runNode } from './run-program.ts';

/** What a registered program prints, as JSON. */
async function printed(program: string, env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const text = `import { registration, unregister } from 'shardwheel/register';
    const turns = async (count) => { for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve)); };
    const isNodes = (timeout) => Object.hasOwn(timeout, '_idleNext');
    const set = (count, delay = 60_000) => Array.from({ length: count }, () => setTimeout(() => {}, delay));
    const clear = (timeouts) => { for (const timeout of timeouts) clearTimeout(timeout); };
    ${program}`;
  const given = [...REGISTER, '--input-type=module', '--eval', text];
  const { code, stdout, stderr } = await runNode(given, { SHARDWHEEL_TIMERS: '', ...env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

test("Node's own timers serve a program that has few", async () => {
  const found = await printed(`
    const timeouts = [...set(16_000), setInterval(() => {}, 60_000)];
    await turns(5);
    const { serving, live } = registration();
    console.log(JSON.stringify([timeouts.every(isNodes), serving, live]));
    clear(timeouts);`);
  expect(found).toEqual([true, 'node', 16_001]);
});

test('from 16,384 live the wheel serves new ones, below 4,096 of its own Node does again', async () => {
  const found = await printed(`
    const seen = [];
    const note = (timeouts) => seen.push([isNodes(timeouts[0]), registration().serving]);
    const first = set(17_000); await turns(5); note(first);
    const second = set(5_000); await turns(5); note(second);
    clear(first); await turns(5);
    const third = set(1); note(third);
    clear(second.slice(0, 2_000)); await turns(5);
    const fourth = set(1); note(fourth);
    clear(second), clear(third), clear(fourth);
    console.log(JSON.stringify([...seen, registration().live]));`);
  expect(found).toEqual([[true, 'wheel'], [false, 'wheel'], [false, 'wheel'], [true, 'node'], 0]);
});

test('a timer stays where it was set: those of both sides fire, are refreshed and cleared', async () => {
  const found = await printed(
    `const fired = [];
    const timeouts = [];
    for (let i = 0; i < 40; i++) {
      timeouts.push(setTimeout(() => fired.push(i), 1000)); // a busy machine may take long to load the scheduler
      if (i % 4 === 0) await turns(2);
    }
    const sides = new Set(timeouts.map(isNodes)).size;
    for (const i of [1, 39]) clearTimeout(timeouts[i]);
    for (const i of [2, 38]) clearTimeout(+timeouts[i]);
    for (const i of [3, 37]) timeouts[i].refresh();
    await new Promise((resolve) => setTimeout(resolve, 1300));
    const inOrder = (side) => { const own = fired.filter((i) => side(timeouts[i]) && i !== 3 && i !== 37); return own.every((i, at) => at === 0 || own[at - 1] < i); };
    console.log(JSON.stringify([sides, fired.length, new Set(fired).size, inOrder(isNodes), inOrder((each) => !isNodes(each))]));`,
    { SHARDWHEEL_TIMERS_FROM: '8' },
  );
  expect(found).toEqual([2, 36, 36, true, true]);
});

test.each([
  ['cleared', 'clear(set(1000, 5000));', 0, 600],
  ['fired', 'set(100, 3);', 0, 1200],
  ['live', 'if (round < 20) set(100, 30_000);', 2000, 2000],
  ['of 40 ms, on their way', 'set(40, 40);', 100, 6000],
])('the estimate is wrong by a factor of two at most: timers that are %s', async (_, act, least, most) => {
  const found = (await printed(
    `const seen = [];
    for (let round = 0; round < 120; round++) { ${act}; await new Promise((resolve) => setTimeout(resolve, 5)); seen.push([registration().live, process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length]); }
    console.log(JSON.stringify(seen.slice(-40)));
    process.exit();`,
    { SHARDWHEEL_TIMERS_FROM: '2000000' },
  )) as [number, number][];
  // at the end of a stall all may have fired
  expect(Math.max(...found.map(([, live]) => live))).toBeGreaterThanOrEqual(least);
  for (const [estimate, live] of found) {
    expect(live).toBeLessThanOrEqual(most);
    if (live >= 512) expect(estimate).toBeGreaterThanOrEqual(live / 2);
    expect(estimate).toBeLessThanOrEqual(Math.max(1100, 2 * live)); // few are not watched
  }
});

test('sleeps, unref and intervals go the same way', async () => {
  const found = await printed(
    `import { setTimeout as sleep, setInterval as every, scheduler } from 'node:timers/promises';
    const kept = set(10); await turns(3);
    const { serving } = registration();
    const signal = AbortSignal.timeout(20);
    const aborted = await sleep(60_000, 0, { signal }).catch(({ name }) => name);
    const value = await sleep(5, 'value');
    await scheduler.wait(5);
    let calls = 0;
    for await (const _ of every(2)) { calls += 1; if (calls === 3) break; }
    const interval = setInterval(() => { calls += 1; if (calls === 6) clearInterval(interval); }, 2);
    while (calls < 6) await sleep(5);
    setTimeout(() => console.log('never'), 60_000).unref();
    const isUnref = isNodes(setTimeout(() => {}, 1).unref());
    clear(kept);
    console.log(JSON.stringify([serving, aborted, value, calls, isUnref]));`,
    { SHARDWHEEL_TIMERS_FROM: '4' },
  );
  expect(found).toEqual(['wheel', 'AbortError', 'value', 6, false]);
});

test('while async hooks are on, or the clock is faked, nothing is taken over', async () => {
  const found = await printed(
    `import { createHook } from 'node:async_hooks';
    const seen = [];
    const hook = createHook({ init() {} }).enable();
    const one = set(20); await turns(3); seen.push(registration().serving);
    hook.disable(); await turns(3); const two = set(1); await turns(3); seen.push(registration().serving);
    hook.enable(); const three = set(1); seen.push(isNodes(three[0])); hook.disable();
    clear(one), clear(two), clear(three);
    const { now } = performance;
    await turns(3);
    performance.now = () => 1;
    const four = set(20); await turns(3); seen.push(registration().serving);
    performance.now = now;
    clear(four);
    console.log(JSON.stringify(seen));`,
    { SHARDWHEEL_TIMERS_FROM: '8' },
  );
  expect(found).toEqual(['node', 'wheel', true, 'node']);
});

test("where the wheel is full, Node's own timer serves in its place", async () => {
  const found = await printed(
    `const first = set(3); await turns(3);
    const [one] = set(1);
    const source = Object.getOwnPropertySymbols(one).map((symbol) => one[symbol]).find((it) => typeof it === 'function');
    source().home.capacity = 4;
    const more = [one, ...set(5)];
    console.log(JSON.stringify(more.map(isNodes)));
    clear(first), clear(more);`,
    { SHARDWHEEL_TIMERS_FROM: '2' },
  );
  expect(found).toEqual([false, false, false, false, true, true]);
});

test('where the wheel is full, a timer that has fired is refreshed all the same, and fires once', async () => {
  const found = await printed(
    `const first = set(3); await turns(3);
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    let calls = 0;
    const one = setTimeout(() => calls++, 1);
    const source = Object.getOwnPropertySymbols(one).map((symbol) => one[symbol]).find((it) => typeof it === 'function');
    await wait(20);
    source().home.capacity = source().home.size;
    one.refresh(); one.refresh();
    await wait(100);
    const before = calls;
    const cleared = setTimeout(() => calls++, 1);
    one.refresh(); clearTimeout(one);
    await wait(100);
    console.log(JSON.stringify([isNodes(one), isNodes(cleared), before, calls]));
    clear(first);`,
    { SHARDWHEEL_TIMERS_FROM: '2' },
  );
  expect(found).toEqual([false, true, 2, 3]);
});

test('useScheduler moves the functions of the modules, and not the globals', async () => {
  const found = await printed(
    `import { createScheduler } from 'shardwheel';
    import timers, { useScheduler } from 'shardwheel/timers';
    const first = set(3); await turns(3);
    const scheduler = createScheduler({ shards: 0, clock: 'manual' });
    useScheduler(scheduler);
    const seen = [];
    timers.setTimeout(() => seen.push('module'), 5);
    await new Promise((resolve) => setTimeout(resolve, 20, seen.push(registration().serving)));
    seen.push(scheduler.size);
    await scheduler.close();
    await new Promise((resolve) => setTimeout(resolve, 5, seen.push(registration().serving)));
    console.log(JSON.stringify(seen));
    clear(first);`,
    { SHARDWHEEL_TIMERS_FROM: '2' },
  );
  expect(found).toEqual(['wheel', 1, 'wheel']);
});

test('stats() and registration() say who serves, since when and why', async () => {
  const found = (await printed(`import { createScheduler } from 'shardwheel';
    const scheduler = createScheduler({ shards: 0 });
    const seen = [(await scheduler.stats()).registration];
    const timeouts = set(20_000); await turns(5);
    seen.push((await scheduler.stats()).registration, registration());
    clear(timeouts);
    await scheduler.close();
    console.log(JSON.stringify(seen));`)) as { serving: string; since: number; reason: string; live: number }[];
  expect(found.map(({ serving, reason, live }) => [serving, reason, live])).toEqual([
    ['node', 'fewer than 16384 are live', 0],
    ['wheel', '20000 were live', 20_000],
    ['wheel', '20000 were live', 20_000],
  ]);
  expect(found[1].since).toBeGreaterThan(found[0].since);
});

test('modes: always, off, and names that are none', async () => {
  const one = `const [timeout] = set(1); console.log(JSON.stringify([isNodes(timeout), registration()?.serving ?? null])); clear([timeout]);`;
  expect(await printed(one, { SHARDWHEEL_TIMERS: 'always' })).toEqual([false, 'wheel']);
  expect(await printed(one, { SHARDWHEEL_TIMERS: 'off' })).toEqual([true, null]);
  expect(await printed(one, { SHARDWHEEL_TIMERS: 'node' })).toEqual([true, 'node']);
  for (const env of [
    { SHARDWHEEL_TIMERS: 'Always' },
    { SHARDWHEEL_TIMERS_FROM: '0' },
    { SHARDWHEEL_TIMERS_FROM: 'many' },
  ]) {
    const { code, stderr } = await runNode([...REGISTER, '--eval', '0'], { SHARDWHEEL_TIMERS: '', ...env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('ERR_INVALID_CONFIG')]);
  }
});

test('shardwheel/timers is the wheel, and with SHARDWHEEL_TIMERS=off Node', async () => {
  const program = `import timers from 'shardwheel/timers';
    const timeout = timers.setTimeout(() => {}, 1);
    console.log(Object.hasOwn(timeout, '_idleNext'));`;
  for (const [mode, isNodes] of [
    ['', false],
    ['node', false],
    ['always', false],
    ['off', true],
  ]) {
    const { stdout } = await runNode(['--input-type=module', '--eval', program], { SHARDWHEEL_TIMERS: `${mode}` });
    expect([mode, stdout.trim()]).toEqual([mode, `${isNodes}`]);
  }
});

test.each([
  [1000, 0],
  [17_000, 1],
])('the scheduler is loaded when the count comes near: %i timers', async (count, modules) => {
  const found = await printed(`import { createRequire } from 'node:module';
    const timeouts = set(${count}); await turns(5); clear(timeouts);
    const { cache } = createRequire(import.meta.url);
    console.log(JSON.stringify(Object.keys(cache).filter((path) => path.includes('registered-wheel')).length));`);
  expect(found).toBe(modules);
});
