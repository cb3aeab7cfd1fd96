import type { CutReason, Outcome } from '../../examples/tcp-proxy/proxy.ts';
import type { ConnectionRecord } from './connection-journal.ts';
import type { Kill } from './event-loops.ts';
import type { Ending, LoadReport, Observation } from './load.ts';
import type { Moment, Moments } from './load-client.ts';
import type { LoadTimeouts } from './load-timeouts.ts';
import { allPlans, byRoute, type Plan, type Route } from './plans.ts';

/** What the times of the ends are held against. */
export interface Limits {
  timeouts: LoadTimeouts;
  /** ms that an end may be late beside a tick, and a quarter of an idle limit: the loops stood still so long. */
  allowance: number;
}

export interface PlanVerdict extends Pick<Plan, 'name' | 'fate'> {
  opened: number;
  /** Connections whose end, as the proxy reports it and as the client saw it, was the one the plan asks for. */
  right: number;
  /** Connections that ended with their thread, which was killed: neither right nor wrong. */
  lost: number;
  /**
   * Connections that a limit ended, and rightly so: their client was late and had let its time pass. Neither right nor
   * wrong.
   */
  late: number;
  /** How long the client took from connected to its end, ms. */
  p50: number;
  p99: number;
  /**
   * Of those that were cut: the latest, in ms after its limit, a quarter of it where that is idle, and a tick. May be
   * negative.
   */
  latest: number | undefined;
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
 * Holds what the load generator meant and saw against what the proxies did and why. Both ports and the time name a
 * connection on both sides: a client's port alone is used again, and at the same time too, to another thread's proxy.
 */
export function judge(
  report: LoadReport,
  records: Record<Route, readonly ConnectionRecord[]>,
  kills: readonly Kill[],
  limits: Limits,
): Verdict {
  const known = byRoute((route) => recordsByPorts(records[route]));
  const faults = new Map<string, number>();
  const note = (fault: string): void => void faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const sawKill = ({ from, to }: Span): boolean => kills.some((kill) => from <= kill.to && kill.from <= to);
  const plans = new Map(
    allPlans.map((plan): [string, Row] => [
      plan.name,
      { plan, opened: 0, right: 0, lost: 0, late: 0, times: [], latest: undefined },
    ]),
  );

  for (const observation of report.observations) {
    const row = plans.get(observation.plan)!;
    const { fate, route, name } = row.plan;
    const { ending } = observation;
    const record = take(known[route].get(portsOf(observation)), observation);
    const outcome = record?.outcome;
    row.opened += 1;
    if (isLost(outcome, ending, sawKill(observation))) {
      row.lost += 1;
      continue;
    }
    if (outcome !== fate && ending === 'cut' && hasLetPass(outcome, observation, limits.timeouts)) {
      row.late += 1;
      continue;
    }
    row.times.push(observation.ms);
    if (outcome !== fate || ending !== endingOf(fate)) {
      note(`${name}: should be ${fate}, but the proxy says ${outcome ?? 'nothing'}, the client ${ending}`);
      continue;
    }
    const { after, beyond } = timingOf(row.plan, observation, record?.endedAt, limits.timeouts);
    if (after < -CLOCKS) note(`${name}: cut before its ${fate} limit was over`);
    else if (beyond > limits.allowance) note(`${name}: cut too late by its ${fate} limit`);
    else row.right += 1;
    if (fate !== 'served') row.latest = Math.max(row.latest ?? Number.NEGATIVE_INFINITY, beyond);
  }
  for (const [route, byPorts] of Object.entries(known)) {
    for (const left of byPorts.values())
      for (const { outcome } of left) note(`${route}: ${outcome}, of no known client`);
  }
  let unreached = 0;
  for (const { code, ...span } of report.unopened) {
    if (brokenOff.has(code) && sawKill(span)) unreached += 1;
    else note(`${code} before the proxy was reached`);
  }

  return {
    plans: [...plans.values()].map(({ times, plan: { name, fate }, ...row }) => {
      times.sort((a, b) => a - b);
      return { name, fate, ...row, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
    }),
    unreached,
    faults: [...faults].map(([fault, times]) => `${fault} (${times} times)`),
  };
}

type Row = Pick<PlanVerdict, 'opened' | 'right' | 'lost' | 'late' | 'latest'> & { plan: Plan; times: number[] };

/** ms by which the clocks of two processes may differ. */
const CLOCKS = 2;
const TICK = 1;

/**
 * ms by which a cut came after its limit, reckoned from the earliest beginning, and beyond what it may take, from the
 * latest.
 */
function timingOf(
  { fate, isBlind }: Plan,
  { moments }: Observation,
  endedAt: number | undefined,
  timeouts: LoadTimeouts,
): { after: number; beyond: number } {
  if (fate === 'served') return { after: 0, beyond: 0 };
  const limit = timeouts[fate as CutReason];
  const begun = beginningOf(fate, moments);
  const end = isBlind === true ? endedAt : overAt(fate, moments);
  if (begun === undefined || end === undefined) return { after: Number.NaN, beyond: Number.POSITIVE_INFINITY };
  const most = (fate === 'idle' ? 1.25 : 1) * limit + TICK;
  return { after: end - begun.earliest - limit, beyond: end - begun.latest - most };
}

/** When a limit's time began; undefined: it did not. */
function beginningOf(fate: Plan['fate'], moments: Moments | undefined): Moment | undefined {
  switch (fate) {
    case 'idle':
      return moments?.moved;
    case 'halfClose':
      return moments?.firstFin;
    case 'firstByte':
      return moments?.secured ?? moments?.opened;
    case 'served':
      return undefined;
    default:
      return moments?.opened;
  }
}

/** When its client saw the end. After a FIN a cut is a reset, else it may be a FIN. */
const overAt = (fate: Plan['fate'], moments: Moments | undefined): number | undefined =>
  fate === 'halfClose' ? moments?.closedAt : (moments?.endedAt ?? moments?.closedAt);

/** Whether it is by its client's own notes that this limit's time was over. */
function hasLetPass(
  outcome: ConnectionRecord['outcome'] | undefined,
  { moments }: Observation,
  timeouts: LoadTimeouts,
): boolean {
  switch (outcome) {
    case 'idle':
    case 'firstByte':
    case 'secure':
    case 'halfClose':
    case 'lifetime':
      break;
    default:
      return false;
  }
  const begun = beginningOf(outcome, moments);
  const end = overAt(outcome, moments);
  if (begun === undefined || end === undefined) return false;
  const limit = timeouts[outcome];
  // A client that stood still may have written a byte since, before it was told of its end.
  if (outcome === 'idle' && (moments?.longestPause ?? 0) >= limit) return true;
  if (outcome === 'firstByte') return (moments?.firstSent ?? end) - begun.earliest >= limit;
  return end - begun.latest >= limit;
}

const endingOf = (fate: Outcome): Ending => (fate === 'served' ? 'finished' : 'cut');

/** What a client is told whose connection no thread has accepted, when the listener goes. */
const brokenOff = new Set(['ECONNRESET', 'ECONNREFUSED']);

/**
 * It was open on a thread that was killed, though its client may have had all that it wanted by then; or it was cut
 * while a thread was killed, and no thread knows of it: it waited in that one's queue. What any thread has made of it
 * counts.
 */
function isLost(outcome: ConnectionRecord['outcome'] | undefined, ending: Ending, sawKill: boolean): boolean {
  if (outcome === 'lost') return ending === 'cut' || ending === 'finished';
  return outcome === undefined && ending === 'cut' && sawKill;
}

const portsOf = ({ clientPort = 0, proxyPort }: Pick<ConnectionRecord, 'clientPort' | 'proxyPort'>): string =>
  `${clientPort} to ${proxyPort}`;

function recordsByPorts(records: readonly ConnectionRecord[]): Map<string, ConnectionRecord[]> {
  const byPorts = new Map<string, ConnectionRecord[]>();
  for (const record of [...records].sort((a, b) => a.acceptedAt - b.acceptedAt)) {
    const ports = portsOf(record);
    const others = byPorts.get(ports);
    if (others === undefined) byPorts.set(ports, [record]);
    else others.push(record);
  }
  return byPorts;
}

/** Removes the record of the connection that was accepted in this span. */
function take(records: ConnectionRecord[] | undefined, { from, to }: Span): ConnectionRecord | undefined {
  const at = records?.findIndex(({ acceptedAt }) => from <= acceptedAt && acceptedAt <= to) ?? -1;
  return at < 0 ? undefined : records?.splice(at, 1)[0];
}

const quantile = (sorted: readonly number[], q: number): number => sorted[Math.floor(q * (sorted.length - 1))] ?? 0;
