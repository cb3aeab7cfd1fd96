import { availableParallelism, cpus } from 'node:os';
import { UsageError } from '../../bench/replay/command-line.ts';
import { type Costs, type CpuCost, type Service, type ServiceCosts, services } from './costs.ts';
import type { RateMeasurement, RunResult, RunTask } from './measured-run.ts';
import { liveTimers, type PlannedLoad, timersSignature } from './planned-load.ts';
import { runMeasurement } from './run-measurement.ts';

/** Most live timers that are measured with: beyond, a timer's cost no longer grows with their number. */
const mostLive = 1_000_000;
/** Most timers that a measurement has places for: some 1.5 GB, of the load alone. */
const mostPlaces = 100_000_000;
/** Connections per second that are measured with: as many as can be told from nothing, and as any service holds. */
const lowest = 10_000;
const highest = 100_000;
const milliseconds = 1200;
/** Number of timers for the measurement of memory: enough that pages and reserves do not matter. */
const many = 250_000;
/** Quantiles that a distribution is kept by. */
const steps = 200;

export interface MeasureOptions {
  /** Event loops that share the load: it is measured on one, with its share. */
  readonly loops: number;
  /** How often each is measured, in turns; the medians count. */
  readonly rounds: number;
  /** ms per connection, if it need not be measured. */
  readonly work?: number;
  readonly signal: AbortSignal;
  /** Called as each measurement begins: how many are done, of how many. */
  onProgress(done: number, all: number): void;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Measures what timers of this kind cost on this machine, each way to serve them in processes of their own. */
export async function measureCosts(load: PlannedLoad, options: MeasureOptions): Promise<Costs> {
  const { loops, onProgress, rounds, signal } = options;
  const share = { ...load, cps: load.cps / loops };
  const fit = Math.min(1, mostLive / liveTimers(share));
  const rate = Math.max(lowest, Math.min(highest, share.cps));
  const live = load.timers.map((timer) => (share.cps * timer.starts * (1 - timer.fires) * timer.held * fit) / 1000);
  // What comes due or is short-lived has half as much room again.
  const places = Math.ceil(1000 + live.reduce((sum, count) => sum + count, 0) + 2 * liveTimers({ ...load, cps: rate }));
  if (places > mostPlaces) {
    const most = mostPlaces.toLocaleString('en-US');
    throw new UsageError(
      `at ${rate} connections per second, which is measured, more than ${most} of these timers would be live`,
    );
  }
  const task: Omit<RunTask, 'service'> = {
    timers: load.timers,
    live,
    places,
    rates: [rate, rate / 4],
    milliseconds,
  };
  const kinds = ['none', ...services] as const;
  const forMemory: Omit<RunTask, 'service'> = {
    timers: [{ name: 'idle', delay: 3_600_000, starts: 1, moves: 0, held: 60_000, fires: 0 }],
    live: [many],
    places: many,
    rates: [],
    milliseconds: 0,
  };
  const all = (rounds + 1) * kinds.length + 1;
  const runs = new Map<RunTask['service'], RunResult[]>(kinds.map((kind) => [kind, []]));
  let done = 0;
  onProgress(done++, all);
  const work = options.work ?? (await runMeasurement<number>('work-process', null, signal));
  const bytes = new Map<RunTask['service'], number>();
  for (const service of kinds) {
    onProgress(done++, all);
    const { bytesFilled } = await runMeasurement<RunResult>('run-process', { ...forMemory, service }, signal);
    bytes.set(service, bytesFilled / many);
  }
  for (let round = 0; round < rounds; round++) {
    for (const service of kinds) {
      onProgress(done++, all);
      runs.get(service)!.push(await runMeasurement<RunResult>('run-process', { ...task, service }, signal));
    }
  }
  const costs = services.map((service): [Service, ServiceCosts] => [
    service,
    serviceCosts(runs.get(service)!, runs.get('none')!, Math.max(0, bytes.get(service)! - bytes.get('none')!)),
  ]);
  return {
    machine: { node: process.version, cores: availableParallelism(), model: cpus()[0]?.model.trim() ?? 'unknown CPU' },
    work,
    isWorkMeasured: options.work === undefined,
    live: Math.round(runs.get('inline')![0].live),
    timers: timersSignature(load.timers),
    services: Object.fromEntries(costs) as Record<Service, ServiceCosts>,
  };
}

/** What runs took beyond those without timers. */
function serviceCosts(runs: readonly RunResult[], bare: readonly RunResult[], bytesPerTimer: number): ServiceCosts {
  const cost = (part: 'loop' | 'shard' | 'helpers'): CpuCost => {
    const [own, others] = [runs, bare].map((each) => each[0].rates.map((_, at) => cpuAt(each, at, part)));
    return fitted(own.map(({ cpu, connections }, at) => ({ cpu: cpu - others[at].cpu, connections })));
  };
  const high = runs.map(({ rates }) => rates[0]);
  const connections = high.reduce((sum, rate) => sum + rate.connections, 0);
  const lengths = high.flatMap(({ pauses }) => pauses);
  return {
    loop: cost('loop'),
    shard: cost('shard'),
    helpers: cost('helpers'),
    pauses: { perConnection: lengths.length / connections, lengths: quantiles(lengths) },
    lateness: quantileMedians(high.map(({ latenesses }) => quantiles(latenesses))),
    bytesPerTimer,
    bytesAtRest: Math.max(0, beyond(runs, bare, bytesOf) - bytesPerTimer * runs[0].live),
  };
}

const bytesOf = ({ bytesAtRest, bytesFilled, bytesGrown }: RunResult): number => bytesAtRest + bytesFilled + bytesGrown;

/** Medians over the rounds. */
const beyond = (runs: readonly RunResult[], bare: readonly RunResult[], figure: (run: RunResult) => number): number =>
  median(runs.map(figure)) - median(bare.map(figure));

/** ms of CPU, and connections, in each ms: medians over the rounds. */
function cpuAt(
  runs: readonly RunResult[],
  at: number,
  part: 'loop' | 'shard' | 'helpers',
): { cpu: number; connections: number } {
  const perMs = (figure: (rate: RateMeasurement) => number) =>
    median(runs.map(({ rates }) => figure(rates[at]) / rates[at].elapsed));
  return { cpu: perMs((rate) => rate[part]), connections: perMs((rate) => rate.connections) };
}

/**
 * The line through two rates; through the origin and the higher one if it would begin below zero. A turn is taken each
 * ms.
 */
function fitted([high, low]: readonly { readonly cpu: number; readonly connections: number }[]): CpuCost {
  const perConnection = (high.cpu - low.cpu) / (high.connections - low.connections);
  const perTurn = high.cpu - perConnection * high.connections;
  if (perTurn >= 0 && perConnection >= 0) return { perConnection, perTurn };
  return { perConnection: Math.max(0, high.cpu / high.connections), perTurn: 0 };
}

/** The median, so that a round with an interrupted machine does not dominate. */
function quantileMedians(rounds: readonly (readonly number[])[]): number[] {
  const [first] = rounds.toSorted((a, b) => a.length - b.length);
  return first.map((_, step) => median(rounds.map((each) => each[Math.floor((step / first.length) * each.length)])));
}

function quantiles(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length <= steps) return sorted;
  return Array.from({ length: steps }, (_, step) => sorted[Math.floor(((step + 0.5) / steps) * sorted.length)]);
}
