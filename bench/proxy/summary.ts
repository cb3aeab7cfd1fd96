import type { Measurement } from './measurement.ts';
import type { Options } from './options.ts';
import { judge, type PlanVerdict, type Verdict } from './verdict.ts';

/** What is told of a run, or of a process' share of it. */
export interface Summary {
  verdict: Verdict;
  connections: number;
  perSecond: number;
  /** Busy share of each event loop. */
  loops: number[];
  /** Cores used by the proxy's processes, and µs of CPU per connection. */
  cpu: number;
  cpuPerConnection: number;
  standingSockets: number;
  /** ms */
  stall: number;
  scheduled: number;
  rescheduled: number;
  cancelled: number;
  /** Of the worst thread, ms. */
  lateness: { p50: number; p99: number };
  peakTimers: number;
  timersLeft: number;
  threadsKilled: number;
  clientsLeft: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const most = (numbers: readonly number[]): number => numbers.reduce((least, number) => Math.max(least, number), 0);

export function summarize(measurement: Measurement, { timeouts, grace }: Options): Summary {
  const { report, records, loops, cpu, standingSockets, stall, timers, kills, timersOfKilled } = measurement;
  const all = [...timers, ...timersOfKilled];
  return {
    verdict: judge(report, records, kills, { timeouts, allowance: stall + grace }),
    connections: sum(Object.values(records).map(({ length }) => length)),
    perSecond: report.opened / report.seconds,
    loops,
    cpu,
    cpuPerConnection: (1e6 * cpu * report.seconds) / report.opened,
    standingSockets,
    stall,
    scheduled: sum(all.map(({ scheduled }) => scheduled)),
    rescheduled: sum(all.map(({ rescheduled }) => rescheduled)),
    cancelled: sum(all.map(({ cancelled }) => cancelled)),
    lateness: {
      p50: most(all.map(({ lateness }) => lateness.p50)),
      p99: most(all.map(({ lateness }) => lateness.p99)),
    },
    peakTimers: measurement.peakTimers,
    timersLeft: sum(timers.map(({ size }) => size)),
    threadsKilled: kills.length,
    clientsLeft: measurement.clientsLeft,
  };
}

/** Of several processes: what can be added is, of the rest the worst. */
export function merge(summaries: readonly Summary[]): Summary {
  const added = (of: (summary: Summary) => number): number => sum(summaries.map(of));
  const perSecond = added((summary) => summary.perSecond);
  return {
    verdict: mergeVerdicts(summaries.map(({ verdict }) => verdict)),
    connections: added(({ connections }) => connections),
    perSecond,
    loops: summaries.flatMap(({ loops }) => loops),
    cpu: added(({ cpu }) => cpu),
    cpuPerConnection: added((each) => each.cpuPerConnection * each.perSecond) / perSecond,
    standingSockets: added(({ standingSockets }) => standingSockets),
    stall: most(summaries.map(({ stall }) => stall)),
    scheduled: added(({ scheduled }) => scheduled),
    rescheduled: added(({ rescheduled }) => rescheduled),
    cancelled: added(({ cancelled }) => cancelled),
    lateness: {
      p50: most(summaries.map(({ lateness }) => lateness.p50)),
      p99: most(summaries.map(({ lateness }) => lateness.p99)),
    },
    peakTimers: added(({ peakTimers }) => peakTimers),
    timersLeft: added(({ timersLeft }) => timersLeft),
    threadsKilled: added(({ threadsKilled }) => threadsKilled),
    clientsLeft: added(({ clientsLeft }) => clientsLeft),
  };
}

function mergeVerdicts(verdicts: readonly Verdict[]): Verdict {
  const byName = new Map<string, PlanVerdict[]>();
  for (const row of verdicts.flatMap(({ plans }) => plans))
    byName.set(row.name, [...(byName.get(row.name) ?? []), row]);
  return {
    plans: [...byName.values()].map((rows) => ({
      ...(rows[0] as PlanVerdict),
      opened: sum(rows.map(({ opened }) => opened)),
      right: sum(rows.map(({ right }) => right)),
      lost: sum(rows.map(({ lost }) => lost)),
      late: sum(rows.map(({ late }) => late)),
      p50: most(rows.map(({ p50 }) => p50)),
      p99: most(rows.map(({ p99 }) => p99)),
      latest: rows.reduce((latest: number | undefined, row) => laterOf(latest, row.latest), undefined),
    })),
    unreached: sum(verdicts.map(({ unreached }) => unreached)),
    faults: verdicts.flatMap(({ faults }) => faults),
  };
}

const laterOf = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
