import { expect, it } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';

/** Bytes of a double that crosses a call which the compiler did not inline. */
const BOX = 16;
/** Allocations are sampled, some 2,000 of them: five standard deviations of their mean. */
const NOISE = 2;

async function measure(subject: string) {
  const { stdout } = await runNode(['--expose-gc', '--max-semi-space-size=1', 'test/smoke/gc-count.mjs', subject]);
  return JSON.parse(stdout) as { counted: number; allocations: Record<string, number> };
}

it('a million times cancel and schedule on a wheel, with the clock moving, cause no garbage collection', async () => {
  expect(await measure('wheel')).toEqual({ counted: 0, allocations: {} });
});

// Deadlines and ids are doubles, and a double that enters or leaves a function which is not inlined is boxed: by
// whoever calls, and for the id by one of those that return it: `TimerTable.idOf`, `Client.start`, `TimerView.#start`,
// `schedule`. Which one, is the compiler's choice of the day. There is nothing else that a collection could be due to.
it.each(['scheduler', 'scheduler inline'])(
  '%s: cancel allocates nothing, schedule its answer alone',
  async (subject) => {
    const { allocations } = await measure(subject);
    const { idOf = 0, start = 0, '#start': view = 0, schedule = 0, ...others } = allocations;
    expect(idOf + start + view + schedule).toBeLessThanOrEqual(BOX + NOISE);
    expect(others).toEqual({});
  },
);

it('a scheduler moves timers without allocating', async () => {
  expect((await measure('scheduler moves')).allocations).toEqual({});
});
