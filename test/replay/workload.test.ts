import { describe, expect, test } from 'vitest';
import { ConnectionTable, GAP, LEFT } from '../../tools/replay/connection-table.ts';
import { ModelProxy } from '../../tools/replay/model-proxy.ts';
import { parseOptions, type ReplayOptions } from '../../tools/replay/options.ts';
import { StepClock } from '../../tools/replay/step-clock.ts';
import { NoTimers } from '../../tools/replay/subjects/no-timers.ts';
import { CONNECT, IDLE, REQUEST, TIME_WAIT } from '../../tools/replay/timer-kind.ts';
import { NEVER, Workload } from '../../tools/replay/workload.ts';

const options = (...argv: string[]): ReplayOptions => parseOptions(argv)!;

/** Everything that connection `id` will do: its draws in the order in which the proxy asks for them. */
function life(workload: Workload, id: number): number[] {
  const { words } = new ConnectionTable(1);
  workload.begin(words, 0, id);
  const script = [words[LEFT]!, words[GAP]!, workload.connectDelay(words, 0), workload.timeout(IDLE, words, 0)];
  for (let left = words[LEFT]!; left > 0; left--) script.push(workload.answerDelay(words, 0), workload.pause(words, 0));
  return script;
}

/** Runs the model in virtual time, without timers, and tells what it did. */
function simulate(argv: readonly string[]): {
  checksum: number;
  armed: number;
  moved: number;
  cancelled: number;
  fired: number;
} {
  const settings = parseOptions(argv)!;
  let now = 0;
  const proxy = new ModelProxy(settings, settings.cps * settings.seconds, new StepClock(() => now));
  proxy.use(new NoTimers(settings.cps * settings.seconds * 2), true);
  for (; now < (settings.seconds + settings.drain) * 1000; now++) {
    proxy.calendar.cursor = now;
    for (let base = proxy.calendar.take(); base >= 0; base = proxy.calendar.take()) proxy.step(base);
    while (now < settings.seconds * 1000 && proxy.opened < ((now + 1) * settings.cps) / 1000) proxy.accept();
  }
  const { armed, moved, cancelled, fired } = proxy.ledger;
  return { checksum: proxy.checksum, armed, moved, cancelled, fired };
}

describe('a connection', () => {
  test('lives the same life in every run of a seed, whatever the others do', () => {
    const [workload, again] = [new Workload(options()), new Workload(options())];
    const lives = Array.from({ length: 500 }, (_, id) => life(workload, id));
    for (let id = 499; id >= 0; id--) expect(life(again, id)).toEqual(lives[id]);
    expect(new Set(lives.map(String)).size).toBe(500);
  });

  test('lives another one with another seed', () => {
    const [one, two] = [new Workload(options('--seed', '1')), new Workload(options('--seed', '2'))];
    const same = Array.from({ length: 500 }, (_, id) => id).filter(
      (id) => String(life(one, id)) === String(life(two, id)),
    );
    expect(same).toEqual([]);
  });

  test('waits for its idle timer where a pause would last longer, and never has a pause that long', () => {
    const workload = new Workload(options('--lifetime', '10', '--idle-timeout', '2'));
    const pauses = Array.from({ length: 2000 }, (_, id) => life(workload, id))
      .flatMap((script) => script.slice(4))
      .filter((_, index) => index % 2 === 1);
    expect(pauses.filter((pause) => pause === NEVER).length).toBeGreaterThan(100);
    expect(Math.max(...pauses)).toBeLessThan(2000);
  });
});

describe('over many connections', () => {
  test('the means and quantiles are those that the table in workload.ts states', () => {
    const workload = new Workload(options());
    const lives = Array.from({ length: 40_000 }, (_, id) => life(workload, id));
    const requests = lives.map(([left]) => left!).sort((a, b) => a - b);
    const lifetimes = lives.map(([left, gap]) => (left! * gap!) / 1000).sort((a, b) => a - b);
    const connects = lives.map((script) => script[2]!).sort((a, b) => a - b);
    const at = (sorted: number[], share: number) => sorted[Math.floor(share * sorted.length)]!;
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(requests)).toBeCloseTo(3, 0);
    expect([at(requests, 0.5), at(requests, 0.75)]).toEqual([2, 4]);
    expect(mean(lifetimes)).toBeGreaterThan(7);
    expect(mean(lifetimes)).toBeLessThan(9);
    expect(lifetimes.filter((seconds) => seconds < 10).length / lives.length).toBeCloseTo(0.8, 1);
    expect(lifetimes.filter((seconds) => seconds > 200).length / lives.length).toBeLessThan(0.002);
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

  test('without jitter a timeout is the flag, in whole ms', () => {
    const { words } = new ConnectionTable(1);
    const workload = new Workload(options('--connect-timeout', '0.0015'));
    workload.begin(words, 0, 7);
    const timeouts = ([CONNECT, IDLE, REQUEST, TIME_WAIT] as const).map((kind) => workload.timeout(kind, words, 0));
    expect(timeouts).toEqual([2, 60_000, 3000, 1000]);
  });
});

describe('the model proxy', () => {
  const argv = ['--cps', '2000', '--seconds', '2', '--lifetime', '1', '--drain', '3'];

  test('performs the same steps for the same seed', () => {
    expect(simulate(argv)).toEqual(simulate(argv));
    expect(simulate([...argv, '--seed', '9']).checksum).not.toBe(simulate(argv).checksum);
  });

  test('arms four kinds of timers per connection, and each ends as a proxy would end it', () => {
    const { armed, moved, cancelled, fired } = simulate([...argv, '--drain', '600', '--seconds', '1']);
    // 2000 connections: connect, idle and TIME-WAIT once, a request timer per request, which also moves the idle timer.
    expect(armed).toBe(3 * 2000 + moved);
    expect(armed).toBe(cancelled + fired);
    expect(fired).toBeGreaterThan(2000);
  });
});
