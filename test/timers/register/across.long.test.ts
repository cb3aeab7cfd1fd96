import { describe, expect, test } from 'vitest';
import { SEED } from '../../fixtures/draws.ts';
import { REGISTER, runNode } from './run-program.ts';

const PROGRAMS = process.env.SHARDWHEEL_SLOW === undefined ? 6 : 60;

/**
 * A program that sets, clears and refreshes timers at random for a while, from callbacks, ticks and immediates, across
 * many take-overs; what went wrong, and how many timers were on each side. A timer fires exactly once unless it is
 * cleared, never before its time by more than Node's own ms, and those of equal delay fire in order on each side.
 */
const program = (seed: number) => `
  import { registration } from 'shardwheel/register';
  import { xorshift } from './dist/bench/replay/xorshift.js';
  let random = ${seed} | 1;
  const below = (end) => {
    random = xorshift(random);
    return (random >>> 0) % end;
  };
  const isNodes = (timeout) => Object.hasOwn(timeout, '_idleNext');
  const delays = [1, 5, 5, 20, 50], timers = [], wrong = [], seen = new Set(), last = new Map();
  let sets = 0, orders = 0, fired = 0, cleared = 0, refreshed = 0;
  const begun = performance.now();
  const set = () => {
    const timer = { number: sets++, delay: delays[below(delays.length)], fired: 0, isCleared: false, order: ++orders };
    timer.notBefore = performance.now() + timer.delay;
    timer.timeout = setTimeout(fire, timer.delay, timer);
    timer.side = isNodes(timer.timeout) ? 'node' : 'wheel';
    seen.add(timer.side);
    timers.push(timer);
  };
  const fire = (timer) => {
    timer.fired += 1;
    fired += 1;
    if (timer.isCleared) wrong.push(timer.number + ' was cleared');
    if (timer.fired > 1) wrong.push(timer.number + ' has fired twice');
    if (performance.now() < timer.notBefore - 1.5) wrong.push(timer.number + ' is early by ' + (timer.notBefore - performance.now()));
    const line = timer.side + timer.delay;
    if ((last.get(line) ?? 0) > timer.order) wrong.push(timer.number + ' is out of order');
    last.set(line, timer.order);
    if (performance.now() - begun < 1500) act();
  };
  const act = () => {
    for (let i = below(4); i > 0; i--) set();
    const timer = timers[below(timers.length)];
    const kind = below(6);
    if (timer === undefined || timer.fired > 0 || timer.isCleared) return;
    if (kind === 0) {
      timer.isCleared = true;
      cleared += 1;
      clearTimeout(below(2) === 0 ? timer.timeout : +timer.timeout);
    }
    if (kind === 1) {
      timer.notBefore = performance.now() + timer.delay;
      timer.order = ++orders;
      refreshed += 1;
      timer.timeout.refresh();
    }
  };
  const steps = [() => process.nextTick(act), () => setImmediate(act), () => queueMicrotask(act), act];
  const drive = setInterval(() => {
    for (let i = below(60); i > 0; i--) steps[below(4)]();
    if (performance.now() - begun > 1500) clearInterval(drive);
  }, 3);
  const states = new Set();
  const look = setInterval(() => states.add(registration().since), 5);
  setTimeout(() => clearInterval(look), 1900);
  process.on('exit', () => {
    for (const timer of timers) if (!timer.isCleared && timer.fired !== 1) wrong.push(timer.number + ' has fired ' + timer.fired + ' times');
    console.log(JSON.stringify({ wrong: wrong.slice(0, 5), sides: seen.size, isMuch: fired > 500 && cleared > 10 && refreshed > 10, changes: states.size }));
  });`;

describe('random programs across the take-over, and back', () => {
  test(`lose no timer, and none fires twice, early or out of order on its side (seed ${SEED})`, {
    timeout: 240_000,
  }, async () => {
    let changes = 0;
    for (let number = 0; number < PROGRAMS; number++) {
      const given = [...REGISTER, '--input-type=module', '--eval', program(SEED + number)];
      const env = { SHARDWHEEL_TIMERS: '', SHARDWHEEL_TIMERS_FROM: `${8 + 8 * (number % 8)}` };
      const { code, stdout, stderr } = await runNode(given, env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const found = JSON.parse(stdout);
      expect({ number, ...found, changes: 0 }).toEqual({ number, wrong: [], sides: 2, isMuch: true, changes: 0 });
      changes += found.changes;
    }
    expect(changes).toBeGreaterThan(2 * PROGRAMS);
  });
});
