import type { Outcome } from '../../examples/tcp-proxy/proxy.ts';
import type { ConnectionRecord } from './connection-journal.ts';
import type { Kill } from './event-loops.ts';
import type { Ending, LoadReport, Observation } from './load.ts';
import { allPlans, type Plan, type Route } from './plans.ts';

interface PlanVerdict {
  plan: Plan;
  opened: number;
  /** Connections whose end, as the proxy reports it and as the client saw it, was the one the plan asks for. */
  right: number;
  /** Connections that ended with their thread, which was killed: neither right nor wrong. */
  lost: number;
  /** How long the client took from connected to its end, ms. */
  p50: number;
  p99: number;
}

export interface Verdict {
  plans: PlanVerdict[];
  /** Connections that a thread took with it before it had so much as accepted them, so that they never opened. */
  unreached: number;
  /** One line for each way in which something went wrong, with how often; empty when all is well. */
  faults: string[];
}

/** From before it was opened until after its end: Date.now(). */
type Span = Pick<Observation, 'from' | 'to'>;

/**
 * Holds what the load generator meant and saw against what the proxies did and why. A client's port and the time name its
 * connection on both sides: the port alone is used again.
 */
export function judge(
  report: LoadReport,
  records: Record<Route, readonly ConnectionRecord[]>,
  kills: readonly Kill[] = [],
): Verdict {
  const known = { upstream: recordsByPort(records.upstream), blackhole: recordsByPort(records.blackhole) };
  const faults = new Map<string, number>();
  const note = (fault: string): void => void faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const sawKill = ({ from, to }: Span): boolean => kills.some((kill) => from <= kill.to && kill.from <= to);
  const plans = new Map(
    allPlans.map((plan) => [plan.name, { plan, opened: 0, right: 0, lost: 0, times: [] as number[] }]),
  );

  for (const observation of report.observations) {
    const row = plans.get(observation.plan)!;
    const { fate, route, name } = row.plan;
    const { ending } = observation;
    const outcome = take(known[route].get(observation.port), observation);
    row.opened += 1;
    if (isLost(outcome, ending, sawKill(observation))) {
      row.lost += 1;
      continue;
    }
    row.times.push(observation.ms);
    if (outcome === fate && ending === endingOf(fate)) row.right += 1;
    else note(`${name}: should be ${fate}, but the proxy says ${outcome ?? 'nothing'}, the client ${ending}`);
  }
  for (const [route, byPort] of Object.entries(known)) {
    for (const left of byPort.values())
      for (const { outcome } of left) note(`${route}: ${outcome}, of no known client`);
  }
  let unreached = 0;
  for (const { code, ...span } of report.unopened) {
    if (brokenOff.has(code) && sawKill(span)) unreached += 1;
    else note(`${code} before the proxy was reached`);
  }

  return {
    plans: [...plans.values()].map(({ times, ...row }) => {
      times.sort((a, b) => a - b);
      return { ...row, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
    }),
    unreached,
    faults: [...faults].map(([fault, times]) => `${fault} (${times} times)`),
  };
}

const endingOf = (fate: Outcome): Ending => (fate === 'served' ? 'finished' : 'cut');

/** What a client is told whose connection no thread has accepted, when the listener goes. */
const brokenOff = new Set(['ECONNRESET', 'ECONNREFUSED']);

/**
 * It was open on a thread that was killed, though its client may have had all that it wanted by then; or it was cut while a
 * thread was killed, and no thread knows of it: it waited in that one's queue. What any thread has made of it counts.
 */
function isLost(outcome: ConnectionRecord['outcome'] | undefined, ending: Ending, sawKill: boolean): boolean {
  if (outcome === 'lost') return ending === 'cut' || ending === 'finished';
  return outcome === undefined && ending === 'cut' && sawKill;
}

function recordsByPort(records: readonly ConnectionRecord[]): Map<number, ConnectionRecord[]> {
  const byPort = new Map<number, ConnectionRecord[]>();
  for (const record of [...records].sort((a, b) => a.acceptedAt - b.acceptedAt)) {
    const { clientPort = 0 } = record;
    const others = byPort.get(clientPort);
    if (others === undefined) byPort.set(clientPort, [record]);
    else others.push(record);
  }
  return byPort;
}

/** Removes the record of the connection that was accepted in this span. */
function take(records: ConnectionRecord[] | undefined, { from, to }: Span): ConnectionRecord['outcome'] | undefined {
  const at = records?.findIndex(({ acceptedAt }) => from <= acceptedAt && acceptedAt <= to) ?? -1;
  return at < 0 ? undefined : records?.splice(at, 1)[0]?.outcome;
}

const quantile = (sorted: readonly number[], q: number): number => sorted[Math.floor(q * (sorted.length - 1))] ?? 0;
