/**
 * The public contract's signatures, as it states them: what the built types must have. Compiled against the installed
 * package.
 */
export const contract = `
import {
  type BoundedWork, connectScheduler, createScheduler, type DeadlineSignal, decodeTimerId, encodeTimerId, type FiredBatch, type LiveTimer,
  type PresetName, type Scheduler, type SchedulerHandle, type SchedulerOptions, type SchedulerStats, type ShardWheel, type StatsInterval,
  type ThreadOptions, type TimerCallback, type TimerGroup, type TimerId, type TimerLabel, type UnfiredTimer, type WheelConfig,
  type WorkerHint,
} from 'shardwheel';
import { CascadingWheel, createWheel, MonotoneQueue, PinnedWheel, presets, type TimingWheel } from 'shardwheel/wheel';

interface Options {
  shards?: number | 'auto';
  wheel?: PresetName | WheelConfig;
  tick?: number;
  capacity?: number;
  clock?: 'monotonic' | 'manual';
  maxBatch?: number;
  slack?: number;
  ioFirst?: number;
  asyncContext?: 'auto' | 'never';
  signal?: AbortSignal;
  thread?: ThreadOptions;
}

type Hint = number | string | TimerGroup;
interface Repeat { first?: number; missedCalls?: 'skip' | 'burst' | 'delay' }

interface Starts {
  schedule<A>(workerHint: Hint, deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId;
  scheduleAfter<A>(workerHint: Hint, delay: number, callback?: TimerCallback<A>, argument?: A): TimerId;
  scheduleAt<A>(workerHint: Hint, date: Date | number, callback?: TimerCallback<A>, argument?: A): TimerId;
  scheduleEvery<A>(workerHint: Hint, period: number, callback?: TimerCallback<A>, argument?: A, options?: Repeat): TimerId;
}

interface Wait { workerHint?: Hint; label?: TimerLabel; signal?: AbortSignal }

interface Contract extends Starts, AsyncDisposable {
  readonly ready: Promise<void>;
  readonly shards: number;
  readonly size: number;
  now(): number;
  scheduleMany(workerHints: ArrayLike<number>, deadlines: ArrayLike<number>, ids?: Float64Array): Float64Array;
  reschedule(id: TimerId, deadline: number): boolean;
  rescheduleAfter(id: TimerId, delay: number): boolean;
  rescheduleAt(id: TimerId, date: Date | number): boolean;
  cancel(id: TimerId): boolean;
  cancelMany(ids: ArrayLike<number>): number;
  cancelAnywhere(id: TimerId): Promise<boolean>;
  has(id: TimerId): boolean;
  deadlineOf(id: TimerId): number | undefined;
  shardOf(workerHint: Hint): number;
  label(name: string, options?: { min?: number; slack?: number }): TimerLabel;
  group(workerHint: number | string): TimerGroup;
  sleep(delay: number, options?: Wait): Promise<void>;
  withTimeout<T>(work: Promise<T> | ((signal: AbortSignal) => T | Promise<T>), delay: number, options?: Wait): Promise<T>;
  signalAfter(delay: number, options?: Wait): AbortSignal & Disposable;
  advanceTo(now: number): Promise<number>;
  nextExpiration(): Promise<number | undefined>;
  stats(): Promise<SchedulerStats>;
  statsInterval(): StatsInterval;
  liveTimers(): Iterable<LiveTimer>;
  wheels(): Promise<ShardWheel[]>;
  share(): SchedulerHandle;
  ref(): this;
  unref(): this;
  close(): Promise<UnfiredTimer[]>;
}

interface Label extends Starts {
  readonly name: string;
  readonly size: number;
  readonly min: number | undefined;
  readonly slack: number;
  readonly factor: number;
  setScale(factor: number): Promise<void>;
}

interface Group extends Disposable {
  readonly size: number;
  schedule<A>(deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId;
  scheduleAfter<A>(delay: number, callback?: TimerCallback<A>, argument?: A): TimerId;
  scheduleAt<A>(date: Date | number, callback?: TimerCallback<A>, argument?: A): TimerId;
  scheduleEvery<A>(period: number, callback?: TimerCallback<A>, argument?: A, options?: Repeat): TimerId;
  cancelAll(): number;
}

interface Unfired {
  id: TimerId; deadline: number; argument: unknown; callback: TimerCallback<unknown> | undefined; label: string | undefined;
  workerHint: number; period?: number | undefined; isSettled: boolean;
}
interface Batch { shard: number; now: number; length: number; ids: Float64Array; deadlines: Float64Array }
interface Thread {
  execArgv?: readonly string[]; env?: Readonly<Record<string, string>>; workerUrl?: URL | string; resourceLimits?: object;
  hangTimeout?: number; inlineAfter?: { deaths: number; within: number };
}

/** Each has all that the contract states, and the options no more. */
type Same<A, B> = [Exclude<keyof A, keyof B>, Exclude<keyof B, keyof A>] extends [never, never] ? true : never;
const options: [Same<Options, SchedulerOptions>, Same<Thread, ThreadOptions>] = [true, true];
const create: (options?: Options) => Contract = createScheduler;
const connect: (handle: SchedulerHandle, options?: { maxBatch?: number; slack?: number; ioFirst?: number; signal?: AbortSignal }) => Contract = connectScheduler;
declare const scheduler: Scheduler, label: TimerLabel, group: TimerGroup, unfired: UnfiredTimer, batch: FiredBatch, work: BoundedWork<number>;
const parts: [Contract, Label, Group, Unfired, Batch] = [scheduler, label, group, unfired, batch];
const hint: [Hint, WorkerHint] = ['' as WorkerHint, '' as Hint];
const deadline: DeadlineSignal = scheduler.signalAfter(5);
scheduler.on('fired', (given: FiredBatch) => given.length);
scheduler.on('shard-restart', ({ shard, cause, rescheduled }) => [shard, cause, rescheduled]);
scheduler.on('error', (error) => error);
const ids: { shard: number; generation: number; slot: number } = decodeTimerId(5, scheduler.idLayout);
const wheel: TimingWheel<string> = createWheel<string>('default', { start: 5, id: 1 });
const names: Record<PresetName, WheelConfig> = presets;
const pinned: { scheduleBestFit(deadline: number, value: string): { id: TimerId; wheelDeadline: number }; compact(): void; coverage(level: number): number; precisionAt(level: number): number } =
  null as unknown as PinnedWheel<string>;
const cascading: TimingWheel<number> = null as unknown as CascadingWheel<number>;
const queue: { add(key: number, value: string): { readonly key: number; readonly value: string }; minKey(): number | undefined; size: number } =
  new MonotoneQueue<string>([8, 8]);
export const all = [options, create, connect, parts, hint, deadline, ids, encodeTimerId, wheel, names, pinned, cascading, queue, work];
`;
