import Table from 'cli-table3';
import type { Summary } from './summary.ts';
import type { Verdict } from './verdict.ts';

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const milliseconds = (ms: number): string => `${ms.toFixed(1)} ms`;
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const plain = { style: { head: [], border: [] }, chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' } };

export function printTables(summary: Summary): void {
  printPlans(summary.verdict, summary.threadsKilled > 0);
  printFigures(summary);
  for (const fault of summary.verdict.faults) console.error(fault);
}

function printPlans(verdict: Verdict, withLost: boolean): void {
  const lostOnly = (text: string): string[] => (withLost ? [text] : []);
  const head = [
    'connections',
    'must end',
    'opened',
    'right',
    ...lostOnly('lost'),
    'p50',
    'p99',
    'latest beyond its limit',
  ];
  const table = new Table({ head, colAligns: head.map((_, column) => (column < 2 ? 'left' : 'right')), ...plain });
  for (const { name, fate, opened, right, lost, p50, p99, latest } of verdict.plans) {
    if (opened === 0) continue;
    const counts = [grouped.format(opened), grouped.format(right), ...lostOnly(grouped.format(lost))];
    const times = opened > lost ? [p50, p99].map(milliseconds) : ['', ''];
    const beyond = latest === undefined ? '' : milliseconds(latest);
    table.push([name, fate === 'served' ? 'served' : `cut: ${fate}`, ...counts, ...times, beyond]);
  }
  console.log(table.toString());
}

function printFigures(summary: Summary): void {
  const { verdict, loops, lateness, threadsKilled, stall } = summary;
  const operations = [summary.scheduled, summary.rescheduled, summary.cancelled];
  const lost = sum(verdict.plans.map(({ lost }) => lost));
  const wrong = sum(verdict.plans.map(({ opened, right, lost, late }) => opened - right - lost - late));
  const late = sum(verdict.plans.map(({ late }) => late));
  const table = new Table({ colAligns: ['left', 'right'], ...plain });
  table.push(
    ['connections', grouped.format(summary.connections)],
    ['connections per second', grouped.format(summary.perSecond)],
    [`event loop${loops.length > 1 ? 's' : ''} of the proxy busy`, loops.map(percent).join(', ')],
    [
      'CPU of the proxy, all threads',
      `${summary.cpu.toFixed(2)} cores, ${grouped.format(summary.cpuPerConnection)} µs per connection`,
    ],
    ['sockets of the proxy that stood at once', grouped.format(summary.standingSockets)],
    ['the longest that a loop stood still', milliseconds(stall)],
    ['timers scheduled, moved, cancelled', operations.map((count) => grouped.format(count)).join(', ')],
    ['timers fired: lateness p50, p99, worst thread', `${milliseconds(lateness.p50)}, ${milliseconds(lateness.p99)}`],
    ['timers live at the peak', grouped.format(summary.peakTimers)],
    ['timers left at the end', grouped.format(summary.timersLeft)],
  );
  if (threadsKilled > 0) {
    table.push(
      ['threads killed', grouped.format(threadsKilled)],
      ['connections lost with their thread', grouped.format(lost)],
      ['lost before they were accepted', grouped.format(verdict.unreached)],
      ['clients left by killed threads', grouped.format(summary.clientsLeft)],
    );
  }
  if (late > 0) table.push(['clients that were late, and cut for it', grouped.format(late)]);
  table.push(['wrong ends', grouped.format(wrong)]);
  console.log(table.toString());
}
