import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

/** How many runs of each number of timers; by hand 10 of each: SHARDWHEEL_SLOW. */
const runs = (count: number): number => (process.env.SHARDWHEEL_SLOW === undefined ? Math.max(1, 200_000 / count) : 10);

const preamble = `import { setTimeout, clearTimeout } from 'shardwheel/timers';
  const block = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };
  const ended = (count) => count === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, 20)).then(() => ended(left()));`;

describe.each([20_000, 100_000, 1_000_000])('%i timeouts', (count) => {
  test('of equal delay run in order, however late the loop is', { timeout: 240_000 }, async () => {
    const { stdout } = await runText(`${preamble}
      let ran = 0, wrong = 0;
      const left = () => ${count} - ran;
      for (let run = 0; run < ${Math.min(10, runs(count))}; run++) {
        ran = 0;
        for (let i = 0; i < ${count}; i++) setTimeout(() => { if (i !== ran) wrong += 1; ran += 1; if (i % 5000 === 0) block(3); }, 10);
        block(run % 2 === 0 ? 0 : 130);
        await ended(left());
      }
      console.log(wrong);`);
    expect(stdout).toBe('0\n');
  });

  test(`of varied delays never run before one that is due a tick earlier (seed ${SEED})`, {
    timeout: 240_000,
  }, async () => {
    const seed = new Draws(SEED).between(1, 2 ** 31);
    const { stdout } = await runText(`${preamble}
      import { xorshift } from './dist/bench/replay/xorshift.js';
      let [random, ran, wrong, latest] = [${seed} | 1, 0, 0, 0];
      const draw = () => {
        random = xorshift(random);
        return (random >>> 0) % 300;
      };
      const left = () => ${count} - ran;
      for (let i = 0; i < ${count}; i++) {
        const delay = 10 + draw();
        const notBefore = performance.now() + delay; // it is due between these
        const timeout = setTimeout(() => {
          ran += 1;
          if (notAfter + 1 < latest) wrong += 1; // by a tick and more before one that has run
          if (notBefore > latest) latest = notBefore;
        }, delay);
        if (i % 7 === 0) timeout.refresh();
        const notAfter = performance.now() + delay;
        if (i % 100_000 === 99_999) block(50);
      }
      await ended(left());
      console.log(wrong);`);
    expect(stdout).toBe('0\n');
  });

  test('that the first of them clears do not run', { timeout: 240_000 }, async () => {
    const { stdout } = await runText(`${preamble}
      const timeouts = [];
      let ran = 0;
      const clear = () => { ran += 1; for (const timeout of timeouts) clearTimeout(timeout); };
      for (let i = 0; i < ${count}; i++) timeouts.push(setTimeout(clear, 10));
      block(50);
      setTimeout(() => console.log(ran), 100);`);
    expect(stdout).toBe('1\n');
  });
});
