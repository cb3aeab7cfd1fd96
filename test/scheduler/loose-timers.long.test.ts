import { expect, test } from 'vitest';
import { runModule } from '../fixtures/child-process.ts';

const preamble = `
  const began = performance.now();
  process.on('exit', () => console.log(JSON.stringify({ elapsed: performance.now() - began })));
  const scheduler = createScheduler({ shards });
`;

/** Generous, for a busy machine; the timers that must not hold are a minute away. */
const AT_ONCE = 40_000;

async function elapsed(text: string, shards: number): Promise<number> {
  const { code, stdout, stderr } = await runModule(preamble + text, shards);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout).elapsed;
}

test.concurrent.each([0, 1])('deadline signals do not hold the process: shards %i', async (shards) => {
  expect(await elapsed(`scheduler.signalAfter(60_000);`, shards)).toBeLessThan(AT_ONCE);
});

test.concurrent.each([0, 1])('beside them a timer does; cancelled, it does no longer: shards %i', async (shards) => {
  const held = await elapsed(
    `scheduler.signalAfter(60_000); scheduler.signalAfter(10); const signal = scheduler.signalAfter(60_000);
     const id = scheduler.scheduleAfter(1, 60_000);
     setTimeout(() => {
       scheduler.cancel(id); signal[Symbol.dispose](); signal[Symbol.dispose]();
       scheduler.scheduleAfter(1, 1000);
     }, 200);`,
    shards,
  );
  expect(held).toBeGreaterThanOrEqual(1000);
  expect(held).toBeLessThan(AT_ONCE);
});
