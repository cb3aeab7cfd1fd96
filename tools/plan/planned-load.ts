/** One kind of a connection's timers. */
export interface PlannedTimer {
  readonly name: string;
  /** ms */
  readonly delay: number;
  /** How many of them a connection starts. */
  readonly starts: number;
  /** How often each is moved to its full delay from then. */
  readonly moves: number;
  /** ms from the start of one to its cancellation, on average. */
  readonly held: number;
  /** Share of them that come due, from 0 to 1; the others are cancelled. */
  readonly fires: number;
}

/** What a program does with timers. */
export interface PlannedLoad {
  /** New connections per second, of all event loops together. */
  readonly cps: number;
  readonly timers: readonly PlannedTimer[];
}

const sum = (timers: readonly PlannedTimer[], figure: (timer: PlannedTimer) => number): number =>
  timers.reduce((total, timer) => total + figure(timer), 0);

/** ms for which one of them is live, on average. */
const lifeOf = ({ delay, fires, held }: PlannedTimer): number => fires * delay + (1 - fires) * held;

/** Timers that are live at a time, by Little's law. */
export const liveTimers = ({ cps, timers }: PlannedLoad): number =>
  sum(timers, (timer) => (cps * timer.starts * lifeOf(timer)) / 1000);

/** Per connection: starts, moves and cancellations. */
export const operationsPerConnection = ({ timers }: PlannedLoad): number =>
  sum(timers, ({ fires, moves, starts }) => starts * (1 + moves + (1 - fires)));

/** Timers of a connection that come due. */
export const firesPerConnection = ({ timers }: PlannedLoad): number =>
  sum(timers, ({ fires, starts }) => starts * fires);

/**
 * The four timers of a proxied connection, as `npx shardwheel replay` has them: see its workload for where they are
 * from.
 */
export const proxyTimers = (lifetime: number): readonly PlannedTimer[] => [
  { name: 'connect', delay: 1000, starts: 1, moves: 0, held: 2, fires: 0.0001 },
  { name: 'idle', delay: 60_000, starts: 1, moves: 3, held: lifetime, fires: 0 },
  { name: 'request', delay: 3000, starts: 3, moves: 0, held: 33, fires: 0.005 },
  { name: 'time-wait', delay: 1000, starts: 1, moves: 0, held: 0, fires: 1 },
];

/** Tells whether costs were measured for timers like these. */
export const timersSignature = (timers: readonly PlannedTimer[]): string =>
  timers
    .map((timer) => `${timer.name}:${timer.delay}:${timer.starts}:${timer.moves}:${timer.held}:${timer.fires}`)
    .join(' ');
