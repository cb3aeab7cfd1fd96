import type { Ending, LoadReport } from './load.ts';
import { allPlans, type Plan, type Route } from './plans.ts';
import type { ConnectionEnd } from './proxy.ts';
import type { Outcome } from './proxy-connection.ts';

export interface PlanVerdict {
  plan: Plan;
  opened: number;
  /** Connections whose end, as the proxy reports it and as the client saw it, was the one the plan asks for. */
  right: number;
  /** How long the client took from connected to its end, ms. */
  p50: number;
  p99: number;
}

export interface Verdict {
  plans: PlanVerdict[];
  /** One line for each way in which something went wrong, with how often; empty when all is well. */
  faults: string[];
}

/**
 * Holds what the load generator meant and saw against what the proxies did and why. A client's port names its
 * connection on both sides; where a port was used again, the first use there is the first here.
 */
export function judge(report: LoadReport, ends: Record<Route, readonly ConnectionEnd[]>): Verdict {
  const outcomes = { upstream: outcomesByPort(ends.upstream), blackhole: outcomesByPort(ends.blackhole) };
  const faults = new Map<string, number>();
  const note = (fault: string): void => void faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const plans = new Map(allPlans.map((plan) => [plan.name, { plan, opened: 0, right: 0, times: [] as number[] }]));

  for (const observation of report.observations) {
    const row = plans.get(observation.plan)!;
    const { fate, route, name } = row.plan;
    const outcome = outcomes[route].get(observation.port)?.shift();
    row.opened += 1;
    row.times.push(observation.ms);
    if (outcome === fate && observation.ending === endingOf(fate)) row.right += 1;
    else
      note(`${name}: should be ${fate}, but the proxy says ${outcome ?? 'nothing'}, the client ${observation.ending}`);
  }
  for (const [route, byPort] of Object.entries(outcomes)) {
    for (const left of byPort.values()) for (const outcome of left) note(`${route}: ${outcome}, of no known client`);
  }
  for (const [code, times] of Object.entries(report.unopened))
    faults.set(`${code} before the proxy was reached`, times);

  return {
    plans: [...plans.values()].map(({ plan, opened, right, times }) => {
      times.sort((a, b) => a - b);
      return { plan, opened, right, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
    }),
    faults: [...faults].map(([fault, times]) => `${fault} (${times} times)`),
  };
}

const endingOf = (fate: Outcome): Ending => (fate === 'served' ? 'finished' : 'cut');

function outcomesByPort(ends: readonly ConnectionEnd[]): Map<number, Outcome[]> {
  const byPort = new Map<number, Outcome[]>();
  for (const { clientPort = 0, outcome } of [...ends].sort((a, b) => a.number - b.number)) {
    const outcomes = byPort.get(clientPort);
    if (outcomes === undefined) byPort.set(clientPort, [outcome]);
    else outcomes.push(outcome);
  }
  return byPort;
}

const quantile = (sorted: readonly number[], q: number): number => sorted[Math.floor(q * (sorted.length - 1))] ?? 0;
