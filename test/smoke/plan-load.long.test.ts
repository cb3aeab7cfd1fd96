import { describe, expect, test } from 'vitest';
import { firesPerConnection, type PlannedTimer, proxyTimers } from '../../tools/plan/planned-load.ts';
import { TimerLoad } from '../../tools/plan/timer-load.ts';
import type { Subject } from '../../tools/replay/subjects/subject.ts';

/** Counts what it is asked for, and fires nothing. */
class CountingSubject implements Subject {
  readonly ready = Promise.resolve();
  readonly live = new Set<number>();
  arms = 0;
  moves = 0;
  cancels = 0;
  fired = 0;
  wrong = 0;

  beginSlice(): void {}

  arm(_kind: number, handle: number): void {
    this.arms += 1;
    if (this.live.has(handle)) this.wrong += 1;
    this.live.add(handle);
  }

  move(handle: number): boolean {
    this.moves += 1;
    if (!this.live.has(handle)) this.wrong += 1;
    return true;
  }

  cancel(handle: number): boolean {
    this.cancels += 1;
    if (!this.live.delete(handle)) this.wrong += 1;
    return true;
  }

  forget(handle: number): void {
    this.fired += 1;
    if (!this.live.delete(handle)) this.wrong += 1;
  }

  async stats(): Promise<unknown> {
    return undefined;
  }

  async close(): Promise<void> {}
}

async function loadOf(timers: readonly PlannedTimer[], live: readonly number[]) {
  const subject = new CountingSubject();
  const load = new TimerLoad(timers, live, 100_000, true);
  await load.use(async () => subject);
  await load.fill();
  return { load, subject };
}

describe('the load that is measured with', () => {
  test('does for each connection what was planned, with as many live as there are in the long run', async () => {
    const timers = proxyTimers(8000);
    const { load, subject } = await loadOf(timers, [20, 20_000, 300, 2000]);
    expect([load.live, subject.arms]).toEqual([20_000, 20_000]);
    const settling = { cps: 2000, milliseconds: 1200 };
    const measured = { cps: 2000, milliseconds: 500 };
    load.startDueSoon([settling, measured]);
    await load.run(settling);
    const before = { ...subject, connections: load.connections, live: load.live };
    await load.run(measured);
    const connections = load.connections - before.connections;
    expect(connections).toBe(1000);
    const per = (count: 'arms' | 'moves' | 'cancels' | 'fired') => (subject[count] - before[count]) / connections;
    expect(per('arms')).toBeCloseTo(6, 1);
    expect(per('moves')).toBeCloseTo(3, 1);
    expect(per('cancels')).toBeCloseTo(6 - firesPerConnection({ cps: 1, timers }), 1);
    expect(per('fired')).toBeCloseTo(firesPerConnection({ cps: 1, timers }), 1);
    expect(Math.abs(load.live - before.live)).toBeLessThan(100);
    expect(subject.live.size).toBe(load.live);
    expect(subject.wrong).toBe(0);
  });

  test('has those come due that would have been started long before it', async () => {
    const timers = [{ name: 'heartbeat', delay: 30_000, starts: 1, moves: 0, held: 0, fires: 1 }];
    const { load, subject } = await loadOf(timers, [0]);
    const phase = { cps: 1000, milliseconds: 300 };
    load.startDueSoon([phase]);
    expect(subject.arms).toBe(300);
    await load.run(phase);
    expect([subject.arms, subject.wrong]).toEqual([600, 0]);
    expect(subject.fired).toBeGreaterThan(250); // the last ones are due as it ends
    expect(load.latenesses.length).toBe(subject.fired);
  });
});
