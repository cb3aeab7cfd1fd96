import Table from 'cli-table3';
import { count, milliseconds } from '../../../bench/replay/format.ts';
import type { ProfileData, SiteCounts, TimerCounts } from '../../../src/extras/profile/profile-data.ts';
import type { Calibration, LoopReport, ReportData } from '../../../src/extras/profile/report-data.ts';
import { delayText } from '../../../src/extras/profile/short-report.ts';
import { percent } from './estimate.ts';

const events = ['created', 'cleared', 'refreshed', 'fired'] as const;
const ms = (value: number): string => `${milliseconds(value)} ms`;
const ns = (value: number): string => `${count(value)} ns`;
const row = (counts: TimerCounts): string[] => events.map((event) => count(counts[event]));
const plain = { style: { head: [], border: [] } };
const right = (columns: number) => Array.from({ length: columns }, () => 'right' as const);

/**
 * The verdict, the numbers, the commonest delays and call sites: of the event loop with most timers; the others in a
 * line each.
 */
export function terminalReport({ command, end, calibration, loops, limits }: ReportData, top: number): string {
  const [first, ...others] = loops;
  const { data, verdict } = first;
  const recorded = `${command}: ${nameOf(data)}, ${data.seconds.toFixed(1)} s`;
  return [
    `${verdict.headline}.`,
    `${verdict.reason}`,
    '',
    end === '' ? recorded : `${recorded}; the program ${end}`,
    numbersTable(first),
    delaysTable(data, top),
    data.sites.length > 0 ? sitesTable(data, top) : '',
    calibration === undefined ? '' : costsTable(calibration),
    others.length > 0 ? loopsTable(loops) : '',
    'What this leaves out:',
    ...limits.map((limit) => `- ${limit}`),
  ]
    .filter((part, at) => part !== '' || at === 2)
    .join('\n');
}

function nameOf({ process: { pid, thread, title, node } }: ProfileData): string {
  const worker = thread === 0 ? '' : `, worker ${thread}`;
  return `${title} (process ${pid}${worker}, Node ${node})`;
}

function numbersTable({ data, estimate }: LoopReport): string {
  const { totals, kinds, live, peak, passes, lateness, early, internal, busy, seconds, needlessClears } = data;
  const { longest } = passes;
  const table = new Table(plain);
  table.push(
    ['timers', events.map((event) => `${count(totals[event])} ${event}`).join(', ')],
    [
      'set by',
      `setTimeout ${count(kinds.timeouts)}, setInterval ${count(kinds.intervals)}, timers/promises ${count(kinds.promises)}`,
    ],
    ['live', `${count(live)} at the end; at most ${count(peak.live)}, after ${peak.at.toFixed(1)} s`],
    ['cleared in vain', `${count(needlessClears)} clearTimeout of what had fired or was cleared`],
    ['event loop', `busy for ${percent(busy / (seconds * 1000))} of the time`],
  );
  if (estimate !== undefined) {
    table.push([
      'timers take',
      `${percent(estimate.calls + estimate.firing)} of its busy time: calls ${percent(estimate.calls)}, firing ${percent(estimate.firing)}; ` +
        `with shardwheel about ${percent(estimate.withShardwheel)}`,
    ]);
  }
  table.push(
    [
      'passes',
      `${count(passes.count)}; with callbacks and what they set off ${percent(passes.milliseconds / Math.max(busy, 1e-9))} of its busy time`,
    ],
    [
      'longest pass',
      `${ms(longest.milliseconds)} for ${count(longest.fired)} callbacks, after ${longest.at.toFixed(1)} s`,
    ],
    ['late by', `p50 ${ms(lateness.p50)}, p99 ${ms(lateness.p99)}, max ${ms(lateness.max)}`],
    [
      'early',
      early.sampled === 0
        ? 'none sampled'
        : `${count(early.early)} of ${count(early.sampled)} sampled, by at most ${ms(early.max)}`,
    ],
    [
      "Node's own",
      `${count(internal.created)} created, ${count(internal.refreshed)} refreshed, ${count(internal.fired)} fired`,
    ],
  );
  return table.toString();
}

function delaysTable({ delays, differentDelays }: ProfileData, top: number): string {
  const table = new Table({ head: ['delay', ...events], colAligns: right(5), ...plain });
  for (const counts of delays.slice(0, top)) table.push([delayText(counts.delay), ...row(counts)]);
  const more =
    differentDelays > top ? `\n${count(differentDelays)} different delays; the ${top} with most operations.` : '';
  return table.toString() + more;
}

function sitesTable({ sites, siteSamples }: ProfileData, top: number): string {
  const head = ['set at', 'delay', ...events.map((event) => `≈ ${event}`)];
  const table = new Table({ head, colAligns: ['left', ...right(5)], ...plain });
  for (const site of sites.slice(0, top)) table.push([placeOf(site), delayText(site.delay), ...row(site)]);
  return `${table.toString()}\nFrom ${count(siteSamples)} samples.`;
}

function placeOf({ site, name, from }: SiteCounts): string {
  const what = name === '' ? site : `${site} ${name}`;
  return from === '' ? what : `${what}\n  from ${from}`;
}

function costsTable({ live, node, shardwheel }: Calibration): string {
  const head = [`on this machine, ${count(live)} live`, "Node's timers", 'shardwheel'];
  const table = new Table({ head, colAligns: ['left', ...right(2)], ...plain });
  table.push(
    ['set, and clear at once', ns(node.young), ns(shardwheel.young)],
    ['set, and clear later', ns(node.old), ns(shardwheel.old)],
    ['refresh', ns(node.refresh), ns(shardwheel.refresh)],
    ['fire', ns(node.fire), ns(shardwheel.fire)],
  );
  return table.toString();
}

function loopsTable(loops: readonly LoopReport[]): string {
  const head = ['event loop', ...events, 'peak live', 'timers take'];
  const table = new Table({ head, colAligns: ['left', ...right(6)], ...plain });
  for (const { data, estimate } of loops) {
    const share = estimate === undefined ? '–' : percent(estimate.calls + estimate.firing);
    table.push([nameOf(data), ...row(data.totals), count(data.peak.live), share]);
  }
  return table.toString();
}
