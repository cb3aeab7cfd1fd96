import type { ProfileData, TimerCounts } from './profile-data.ts';

const ROWS = 5;

/** The lines of text at a program's end if no folder for the data is named. */
export function shortReport(data: ProfileData): string {
  const { process, totals, live, peak, passes, lateness, sites, delays, seconds, busy } = data;
  const where = process.thread === 0 ? '' : `, worker ${process.thread}`;
  const calls = callTime(data);
  const lines = [
    `shardwheel/profile: process ${process.pid}${where}, ${seconds.toFixed(1)} s, event loop busy for ${share(busy, seconds * 1000)}`,
    `  timers     ${describe(totals)}; live now ${count(live)}, at most ${count(peak.live)}`,
    `  calls      setting, clearing, refreshing take ${share(calls, busy)} of that (sampled)`,
    `  passes     ${count(passes.count)}, callbacks included ${share(passes.milliseconds, busy)} of that; longest ${ms(passes.longest.milliseconds)} for ${count(passes.longest.fired)} callbacks`,
    `  lateness   p50 ${ms(lateness.p50)}, p99 ${ms(lateness.p99)}, max ${ms(lateness.max)}`,
    ...delays.slice(0, ROWS).map((row) => `  ${delayText(row.delay).padEnd(10)} ${describe(row)}`),
    ...sites.slice(0, ROWS).map((row) => `  ≈ ${count(row.created).padEnd(8)} set at ${row.site}${via(row.from)}`),
    '  npx shardwheel profile -- <command> says more, and what shardwheel would gain.',
  ];
  return `${lines.join('\n')}\n`;
}

/** ms of calls of timer functions, by the samples. */
function callTime({ calls, totals, needlessClears }: ProfileData): number {
  const { create, clear, refresh } = calls;
  const clears = totals.cleared + needlessClears;
  return (totals.created * create.ns + clears * clear.ns + totals.refreshed * refresh.ns) / 1e6;
}

const via = (from: string): string => (from === '' ? '' : `, from ${from}`);

const describe = ({ created, cleared, refreshed, fired }: TimerCounts): string =>
  `${count(created)} created, ${count(cleared)} cleared, ${count(refreshed)} refreshed, ${count(fired)} fired`;

const count = (value: number): string => Math.round(value).toLocaleString('en-US');

const share = (part: number, whole: number): string =>
  whole > 0 ? `${((100 * part) / whole).toFixed(part / whole < 0.1 ? 1 : 0)} %` : '0 %';

const ms = (value: number): string =>
  value >= 100 ? `${value.toFixed(0)} ms` : value >= 10 ? `${value.toFixed(1)} ms` : `${value.toFixed(2)} ms`;

export function delayText(milliseconds: number): string {
  const units: readonly [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ];
  const [length, unit] = units.find(([length]) => milliseconds >= length) ?? [1, 'ms'];
  return `${Number((milliseconds / length).toFixed(2))} ${unit}`;
}
