import { askForPort } from '../../examples/tcp-proxy/acceptor.ts';
import { ConnectionCut, GarbledAnswer, LoadClient, type Moments } from './load-client.ts';
import type { LoadTimeouts } from './load-timeouts.ts';
import { hangingPlans, healthyPlans, type Plan, quickPlan, type Route, type Standing, standingPlans } from './plans.ts';
import { StallGauge } from './stall-gauge.ts';

export interface LoadOptions {
  /** of the proxies, both on 127.0.0.1 */
  ports: Record<Route, number>;
  /** The ports are acceptors', which are asked for the port to connect to. */
  asksForPort: boolean;
  /** of the proxies, ms: hanging connections wait for them, healthy ones keep below them */
  timeouts: LoadTimeouts;
  /** The proxies have none: only what ends by itself is opened. */
  isUnlimited: boolean;
  /** How long new connections are opened. */
  seconds: number;
  /** Most connections opened in all, or one of every plan where that is more. */
  maxConnections: number;
  /** Quick connections open at a time. */
  parallel: number;
  /** Share of hanging connections, less than 0.5; as many again are healthy but slow. */
  hanging: number;
  /** Most connections open at a time besides the quick ones and those that stand. */
  maxSlow: number;
  /** Connections that are opened first, and stand for the whole run. */
  standing: number;
}

/** What the client saw. 'stuck': still open long after every timeout. */
export type Ending = 'finished' | 'cut' | 'garbled' | 'stuck';

export interface Observation {
  plan: string;
  /** By both ports the proxy's record of the same connection is found: its client's, and that of the proxy. */
  clientPort: number;
  proxyPort: number;
  ending: Ending;
  ms: number;
  /** As its client can tell. */
  moments?: Moments;
  /** Date.now() before it was opened, and after its end. */
  from: number;
  to: number;
}

/** A connection that could not be opened. */
interface Unopened {
  /** Of the system's error. */
  code: string;
  /** As in Observation. */
  from: number;
  to: number;
}

export interface LoadReport {
  /** From the first connection opened to the last one opened. */
  seconds: number;
  /** Connections opened in that time. */
  opened: number;
  unopened: Unopened[];
  /** In the order of opening. */
  observations: Observation[];
  /** The longest that this process stood still, ms. */
  stall: number;
}

const GRACE_MS = 5_000;

/**
 * Opens real connections, each with a plan: `parallel` quick ones at all times, and beside them, in turn, the healthy
 * plans and the hanging ones. Bounded in time, in number and in connections open at once; whatever is still open
 * `GRACE_MS` after every timeout has had its chance is closed and reported as stuck.
 *
 * @param onStanding called when those are open that stand; the others come when it resolves
 * @param onOpened called when the last connection is open: the throughput counts up to here
 */
export async function runLoad(
  options: LoadOptions,
  onStanding: () => Promise<void>,
  onOpened: () => void,
): Promise<LoadReport> {
  const { timeouts, parallel, hanging, maxConnections, isUnlimited } = options;
  const gauge = new StallGauge();
  gauge.start();
  const observations: Observation[] = [];
  const unopened: Unopened[] = [];
  const open = new Map<LoadClient, Observation>();
  const slow = new Set<Promise<void>>();
  let opened = 0;

  const allowed = (plans: readonly Plan[]): readonly Plan[] =>
    isUnlimited ? plans.filter(({ fate }) => fate === 'served') : plans;

  const connectAndPlay = async (plan: Plan, begun = () => {}): Promise<void> => {
    opened += 1;
    const from = Date.now();
    let client: LoadClient;
    let proxyPort = options.ports[plan.route];
    try {
      if (options.asksForPort) proxyPort = await askForPort(proxyPort);
      client = await LoadClient.connect(proxyPort);
    } catch (error) {
      const { code = 'UNKNOWN' } = error as NodeJS.ErrnoException;
      unopened.push({ code, from, to: Date.now() });
      return;
    }
    const observation: Observation = {
      plan: plan.name,
      clientPort: client.localPort,
      proxyPort,
      ending: 'stuck',
      ms: 0,
      from,
      to: from,
    };
    observations.push(observation);
    open.set(client, observation);
    const connected = performance.now();
    const ending = await play(plan, client, timeouts, { begun, released });
    observation.ms = performance.now() - connected;
    observation.to = Date.now();
    observation.moments = client.moments();
    if (open.delete(client)) observation.ending = ending; // else given up: stuck
    client.destroy();
  };

  const startSlow = (plan: Plan): void => {
    if (slow.size >= options.maxSlow) return;
    const run: Promise<void> = connectAndPlay(plan).finally(() => slow.delete(run));
    slow.add(run);
  };

  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const standing: Promise<void>[] = [];
  const standingTurn = turnsOf(allowed(standingPlans));
  const openStanding = async (): Promise<void> => {
    while (standing.length < options.standing) {
      await new Promise<void>((resolve) => {
        standing.push(connectAndPlay(standingTurn(), resolve).finally(resolve));
      });
    }
  };
  await Promise.all(Array.from({ length: parallel }, openStanding));
  await onStanding();

  opened = 0;
  const started = performance.now();
  const stopAt = started + options.seconds * 1_000;
  const slowPlans = [healthyPlans, allowed(hangingPlans)].filter(({ length }) => length > 0);
  const slowTurns = slowPlans.map(turnsOf);
  for (const plan of slowPlans.flat()) startSlow(plan); // every plan at least once
  let owed = 0;
  const keepBusy = async (): Promise<void> => {
    while (performance.now() < stopAt && opened < maxConnections) {
      await connectAndPlay(quickPlan);
      for (owed += hanging / (1 - 2 * hanging); owed >= 1; owed -= 1) {
        for (const next of slowTurns) if (opened < maxConnections) startSlow(next());
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, keepBusy));
  const seconds = (performance.now() - started) / 1_000;
  const openedThen = opened;
  onOpened();
  release();

  const longest = 4 * (timeouts.connect + timeouts.idle + timeouts.halfClose) + 2 * timeouts.lifetime;
  const giveUp = setTimeout(() => {
    for (const client of open.keys()) client.destroy();
    open.clear();
  }, longest + GRACE_MS);
  await Promise.all([...slow, ...standing]);
  clearTimeout(giveUp);
  return { seconds, opened: openedThen, unopened, observations, stall: gauge.stop() };
}

async function play(plan: Plan, client: LoadClient, timeouts: LoadTimeouts, standing: Standing): Promise<Ending> {
  try {
    await plan.play(client, timeouts, standing);
    return 'finished';
  } catch (error) {
    if (error instanceof ConnectionCut) return 'cut';
    if (error instanceof GarbledAnswer) return 'garbled';
    throw error;
  }
}

function turnsOf(plans: readonly Plan[]): () => Plan {
  let turn = 0;
  return () => plans[turn++ % plans.length]!;
}
