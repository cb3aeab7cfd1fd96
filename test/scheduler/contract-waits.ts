import { getEventListeners } from 'node:events';
import type { Scheduler, TimerGroup, TimerLabel } from 'shardwheel';
import type { ModelTimer } from './contract-model.ts';

/** What a program gives with a wait. */
export interface WaitStart {
  readonly label: TimerLabel | undefined;
  readonly workerHint: number | TimerGroup;
  readonly signal: AbortSignal | undefined;
}

/** One that waits. */
interface Wait {
  readonly timer: ModelTimer;
  /** Called when its time is up. */
  readonly timeUp: () => void;
  readonly told: string[];
  /** What it should have been told, once its timer has ended. */
  expected?: string | undefined;
  /** Ends the work that is waited for. */
  settle?: (fails: boolean) => void;
  /** Of that work, which must hear the same. */
  workSignal?: AbortSignal;
  signal?: AbortSignal & Disposable;
}

const OUTERS = 3;
const FAILED = { code: 'failed' };

const codeOf = (error: unknown): string => String((error as { code?: string } | undefined)?.code);

/** Starts what waits for timers, and compares what each is told with how its timer has ended. */
export class ContractWaits {
  /** What ends waits from outside. */
  readonly outers = Array.from({ length: OUTERS }, () => new AbortController());
  private readonly scheduler: Scheduler;
  private readonly faults: string[];
  private readonly live = new Map<ModelTimer, Wait>();
  private ended: Wait[] = [];

  constructor(scheduler: Scheduler, faults: string[]) {
    this.scheduler = scheduler;
    this.faults = faults;
  }

  /**
   * Starts one. Returns what a signal has been told by then, or the code with which it was refused; '' of a promise.
   */
  start(timer: ModelTimer, delay: number, options: WaitStart, isFunction: boolean, timeUp: () => void): string {
    const { scheduler } = this;
    const wait: Wait = { timer, timeUp, told: [] };
    this.live.set(timer, wait);
    if (timer.kind === 'signal') return this.startSignal(wait, delay, options);
    if (timer.kind === 'sleep') return this.follow(wait, 'resolved', scheduler.sleep(delay, options));
    const work = new Promise<string>((resolve, reject) => {
      wait.settle = (fails) => (fails ? reject(FAILED) : resolve('settled'));
    });
    const start = (signal: AbortSignal) => {
      wait.workSignal = signal;
      return work;
    };
    return this.follow(wait, 'ERR_TIMEOUT', scheduler.withTimeout(isFunction ? start : work, delay, options));
  }

  /** Its timer has ended: what it must have been told when all reactions have run. */
  end(timer: ModelTimer, expected: string | undefined): void {
    const wait = this.live.get(timer);
    if (wait === undefined) return;
    this.live.delete(timer);
    wait.expected = expected;
    this.ended.push(wait);
  }

  /** The live wait of a timer. */
  of(timer: ModelTimer): Wait | undefined {
    return this.live.get(timer);
  }

  get hasEnded(): boolean {
    return this.ended.length > 0;
  }

  /** Compares what has been told. `isHeard`: who else listens. Precondition: all reactions have run. */
  compare(isHeard: (outer: AbortController) => boolean): void {
    for (const { timer, told, expected = '', workSignal } of this.ended) {
      if (told.join() !== expected) this.faults.push(`${timer.kind} ${timer.id} is told '${told}', not '${expected}'`);
      const isByItself = expected === 'settled' || expected === 'failed';
      if (workSignal?.aborted === isByItself) this.faults.push(`the work of ${timer.id} is told another thing`);
    }
    this.ended = [];
    for (const outer of this.outers) {
      const isListening = isHeard(outer) || [...this.live.keys()].some((timer) => timer.outer === outer);
      const listeners = getEventListeners(outer.signal, 'abort').length;
      if (listeners !== Number(isListening)) this.faults.push(`${listeners} listeners of an outer signal`);
    }
  }

  private follow(wait: Wait, isUp: string, promise: Promise<unknown>): string {
    promise.then(
      (value) => this.tell(wait, String(value ?? 'resolved'), isUp),
      (error) => this.tell(wait, codeOf(error), isUp),
    );
    return '';
  }

  private startSignal(wait: Wait, delay: number, options: WaitStart): string {
    try {
      const signal = this.scheduler.signalAfter(delay, options);
      wait.signal = signal;
      if (signal.aborted) wait.told.push(codeOf(signal.reason));
      signal.addEventListener('abort', () => this.tell(wait, codeOf(signal.reason), 'ERR_TIMEOUT'));
    } catch (error) {
      wait.told.push(codeOf(error));
    }
    return wait.told.join();
  }

  private tell(wait: Wait, what: string, isUp: string): void {
    wait.told.push(what);
    if (what !== isUp || this.live.get(wait.timer) !== wait) return;
    this.end(wait.timer, isUp);
    wait.timeUp();
  }
}
