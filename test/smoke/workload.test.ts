import { expect, test } from 'vitest';
import { ConnectionTable, GAP, LEFT } from '../../bench/replay/connection-table.ts';
import { ModelProxy } from '../../bench/replay/model-proxy.ts';
import { parseOptions, type ReplayOptions } from '../../bench/replay/options.ts';
import { StepClock } from '../../bench/replay/step-clock.ts';
import { NoTimers } from '../../bench/replay/subjects/no-timers.ts';
import { IDLE } from '../../bench/replay/timer-kind.ts';
import { NEVER, Workload } from '../../bench/replay/workload.ts';

const options = (...argv: string[]): ReplayOptions => parseOptions(argv)!;

/** Everything that connection `id` will do: its draws in the order in which the proxy asks for them. */
function life(workload: Workload, id: number): number[] {
  const { words } = new ConnectionTable(1);
  workload.begin(words, 0, id);
  const script = [words[LEFT]!, words[GAP]!, workload.connectDelay(words, 0), workload.timeout(IDLE, words, 0)];
  for (let left = words[LEFT]!; left > 0; left--) script.push(workload.answerDelay(words, 0), workload.pause(words, 0));
  return script;
}

test('a connection lives the same life in every run of a seed, whatever the others do', () => {
  const [workload, again] = [new Workload(options()), new Workload(options())];
  const lives = Array.from({ length: 500 }, (_, id) => life(workload, id));
  for (let id = 499; id >= 0; id--) expect(life(again, id)).toEqual(lives[id]);
  expect(new Set(lives.map(String)).size).toBe(500);
});

test('over many connections the means and quantiles are those that the table in workload.ts states', () => {
  const workload = new Workload(options());
  const lives = Array.from({ length: 40_000 }, (_, id) => life(workload, id));
  const sorted = (of: (script: number[]) => number) => lives.map(of).sort((a, b) => a - b);
  const requests = sorted(([left]) => left!);
  const lifetimes = sorted(([left, gap]) => (left! * gap!) / 1000);
  const connects = sorted(([, , connect]) => connect!);
  const at = (values: number[], share: number) => values[Math.floor(share * values.length)]!;
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(mean(requests)).toBeCloseTo(3, 0);
  expect([at(requests, 0.5), at(requests, 0.75)]).toEqual([2, 4]);
  expect(mean(lifetimes)).toBeGreaterThan(7);
  expect(mean(lifetimes)).toBeLessThan(9);
  expect(lifetimes.filter((seconds) => seconds < 10).length / lives.length).toBeCloseTo(0.8, 1);
  expect(at(lifetimes, 0.998)).toBeLessThanOrEqual(200);
  expect(at(connects, 0.5)).toBe(2); // 1.2 ms, rounded up to the calendar's millisecond
  expect(at(connects, 0.99)).toBeLessThanOrEqual(15);
  expect(connects.filter((delay) => delay === NEVER).length).toBeLessThan(20);
});

test('jitter spreads the timeouts of different connections over its range, and only upwards', () => {
  const workload = new Workload(options('--jitter', '10'));
  const idle = Array.from({ length: 4000 }, (_, id) => life(workload, id)[3]!);
  expect(Math.min(...idle)).toBeGreaterThanOrEqual(60_000);
  expect(Math.max(...idle)).toBeLessThan(66_000);
  expect(new Set(idle).size).toBeGreaterThan(2000);
});

test('the model proxy arms four kinds of timers per connection, and each ends as a proxy would end it', () => {
  const settings = options('--cps', '2000', '--seconds', '1', '--lifetime', '1', '--drain', '600');
  let now = 0;
  const proxy = new ModelProxy(settings, 2000, new StepClock(() => now));
  proxy.use(new NoTimers(4000), true);
  for (; now < 601_000; now++) {
    proxy.calendar.cursor = now;
    for (let base = proxy.calendar.take(); base >= 0; base = proxy.calendar.take()) proxy.step(base);
    while (now < 1000 && proxy.opened < (now + 1) * 2) proxy.accept();
  }
  const { armed, moved, cancelled, fired } = proxy.ledger;
  // Connect, idle and TIME-WAIT once each, a request timer per request, which also moves the idle timer.
  expect(armed).toBe(3 * 2000 + moved);
  expect(armed).toBe(cancelled + fired);
  expect(fired).toBeGreaterThan(2000);
});
