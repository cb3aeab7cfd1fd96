import Table from 'cli-table3';
import type { Measurement } from './measurement.ts';
import type { Verdict } from './verdict.ts';

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const milliseconds = (ms: number): string => `${ms.toFixed(1)} ms`;
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const plain = { style: { head: [], border: [] }, chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' } };

export function printTables(measurement: Measurement, verdict: Verdict): void {
  printPlans(verdict, measurement.kills.length > 0);
  printFigures(measurement, verdict);
  for (const fault of verdict.faults) console.error(fault);
}

function printPlans(verdict: Verdict, withLost: boolean): void {
  const lostOnly = (text: string): string[] => (withLost ? [text] : []);
  const head = ['connections', 'must end', 'opened', 'right', ...lostOnly('lost'), 'p50', 'p99'];
  const table = new Table({ head, colAligns: head.map((_, column) => (column < 2 ? 'left' : 'right')), ...plain });
  for (const { plan, opened, right, lost, p50, p99 } of verdict.plans) {
    const fate = plan.fate === 'served' ? 'served' : `cut: ${plan.fate}`;
    const counts = [grouped.format(opened), grouped.format(right), ...lostOnly(grouped.format(lost))];
    const times = opened > lost ? [p50, p99].map(milliseconds) : ['', ''];
    table.push([plan.name, fate, ...counts, ...times]);
  }
  console.log(table.toString());
}

function printFigures(measurement: Measurement, { plans, unreached }: Verdict): void {
  const { report, records, loops, cpu, peakTimers, timers, kills, timersOfKilled, clientsLeft } = measurement;
  const all = [...timers, ...timersOfKilled];
  const operations = [
    sum(all.map(({ scheduled }) => scheduled)),
    sum(all.map(({ rescheduled }) => rescheduled)),
    sum(all.map(({ cancelled }) => cancelled)),
  ];
  const worst = {
    p50: Math.max(...all.map(({ lateness }) => lateness.p50)),
    p99: Math.max(...all.map(({ lateness }) => lateness.p99)),
  };
  const lost = sum(plans.map(({ lost }) => lost));
  const wrong = sum(plans.map(({ opened, right, lost }) => opened - right - lost));
  const table = new Table({ colAligns: ['left', 'right'], ...plain });
  table.push(
    ['connections', grouped.format(records.upstream.length + records.blackhole.length)],
    ['connections per second', grouped.format(report.opened / report.seconds)],
    [`event loop${loops.length > 1 ? 's' : ''} of the proxy busy`, loops.map(percent).join(', ')],
    ['CPU of the proxy, all threads', `${cpu.toFixed(2)} cores`],
    ['timers scheduled, moved, cancelled', operations.map((count) => grouped.format(count)).join(', ')],
    [
      `timers fired: lateness p50, p99${all.length > 1 ? ', worst thread' : ''}`,
      `${milliseconds(worst.p50)}, ${milliseconds(worst.p99)}`,
    ],
    ['timers live at the peak', grouped.format(peakTimers)],
    ['timers left at the end', grouped.format(sum(timers.map(({ size }) => size)))],
  );
  if (kills.length > 0) {
    table.push(
      ['threads killed', grouped.format(kills.length)],
      ['connections lost with their thread', grouped.format(lost)],
      ['lost before they were accepted', grouped.format(unreached)],
      ['clients left by killed threads', grouped.format(clientsLeft)],
    );
  }
  table.push(['wrong ends', grouped.format(wrong)]);
  console.log(table.toString());
}
