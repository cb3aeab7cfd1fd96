import Table from 'cli-table3';
import type { Measurement } from './measurement.ts';
import type { Verdict } from './verdict.ts';

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const milliseconds = (ms: number): string => `${ms.toFixed(1)} ms`;
const plain = { style: { head: [], border: [] }, chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' } };

export function printTables({ report, ends, loop, cpu, peakTimers, stats }: Measurement, verdict: Verdict): void {
  const plans = new Table({
    head: ['connections', 'must end', 'opened', 'right', 'p50', 'p99'],
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right'],
    ...plain,
  });
  for (const { plan, opened, right, p50, p99 } of verdict.plans) {
    const fate = plan.fate === 'served' ? 'served' : `cut: ${plan.fate}`;
    plans.push([plan.name, fate, grouped.format(opened), grouped.format(right), milliseconds(p50), milliseconds(p99)]);
  }
  console.log(plans.toString());

  const proxied = ends.upstream.length + ends.blackhole.length;
  const operations = [stats.scheduled, stats.rescheduled, stats.cancelled];
  const figures = new Table({ colAligns: ['left', 'right'], ...plain });
  figures.push(
    ['connections', grouped.format(proxied)],
    ['connections per second', grouped.format(report.opened / report.seconds)],
    ['event loop of the proxy busy', `${(100 * loop).toFixed(0)} %`],
    ['CPU of the proxy, all threads', `${cpu.toFixed(2)} cores`],
    ['timers scheduled, moved, cancelled', operations.map((count) => grouped.format(count)).join(', ')],
    ['timers fired: lateness p50, p99', `${milliseconds(stats.lateness.p50)}, ${milliseconds(stats.lateness.p99)}`],
    ['timers live at the peak', grouped.format(peakTimers)],
    ['timers left at the end', grouped.format(stats.size)],
    ['wrong ends', grouped.format(verdict.plans.reduce((sum, { opened, right }) => sum + opened - right, 0))],
  );
  console.log(figures.toString());
  for (const fault of verdict.faults) console.error(fault);
}
