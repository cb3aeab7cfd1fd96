import { expect, test, vi } from 'vitest';
import { firesPerConnection, type PlannedTimer, proxyTimers } from '../../tools/plan/planned-load.ts';
import { TimerLoad } from '../../tools/plan/timer-load.ts';
import { NoTimers } from '../../tools/replay/subjects/no-timers.ts';

/** A load on a subject that fires nothing, and what it has asked of it. */
async function loadOf(timers: readonly PlannedTimer[], live: readonly number[]) {
  const load = new TimerLoad(timers, live, 100_000, true);
  const subject = new NoTimers(100_000);
  const [arm, move, cancel, forget] = (['arm', 'move', 'cancel', 'forget'] as const).map((call) =>
    vi.spyOn(subject, call),
  );
  await load.use(async () => subject);
  await load.fill();
  const counts = () => [arm, move, cancel, forget].map((spy) => spy.mock.calls.length);
  const wrong = () => [move, cancel].flatMap((spy) => spy.mock.results.filter(({ value }) => value !== true));
  return { load, counts, wrong };
}

test('the load does for each connection what was planned, with as many live as there are in the long run', async () => {
  const timers = proxyTimers(8000);
  const { load, counts, wrong } = await loadOf(timers, [20, 20_000, 300, 2000]);
  expect([load.live, counts()[0]]).toEqual([20_000, 20_000]);
  const settling = { cps: 2000, milliseconds: 1200 };
  const measured = { cps: 2000, milliseconds: 500 };
  load.startDueSoon([settling, measured]);
  await load.run(settling);
  const before = { counts: counts(), connections: load.connections, live: load.live };
  await load.run(measured);
  const connections = load.connections - before.connections;
  expect(connections).toBe(1000);
  const fires = firesPerConnection({ cps: 1, timers });
  const planned = [6, 3, 6 - fires, fires].map((times) => expect.closeTo(times, 1));
  expect(counts().map((count, call) => (count - before.counts[call]) / connections)).toEqual(planned);
  expect(Math.abs(load.live - before.live)).toBeLessThan(100);
  const [arms, , cancels, fired] = counts();
  expect(load.live).toBe(arms - cancels - fired);
  expect(wrong()).toEqual([]);
});

test('the load has those come due that would have been started long before it', async () => {
  const heartbeat = { name: 'heartbeat', delay: 30_000, starts: 1, moves: 0, held: 0, fires: 1 };
  const { load, counts } = await loadOf([heartbeat], [0]);
  const phase = { cps: 1000, milliseconds: 300 };
  load.startDueSoon([phase]);
  expect(counts()).toEqual([300, 0, 0, 0]);
  await load.run(phase);
  const [arms, , , fired] = counts();
  expect(arms).toBe(600);
  expect(fired).toBeGreaterThan(250); // the last ones are due as it ends
  expect(load.latenesses.length).toBe(fired);
});
