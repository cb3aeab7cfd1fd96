import { outsideContexts } from '../async-context/async-context.ts';
import { messageOf } from '../show.ts';
import { clearTimeout, setImmediate, setTimeout } from '../time/native-timers.ts';
import type { DurableHost } from './durable-host.ts';
import type { DurableHandler } from './durable-timer.ts';
import { decodePayload } from './payload-codec.ts';
import { pauseAfter } from './retry-policy.ts';
import { type Claim, type DueTimer, type Ending, idOf, type StoredTimer } from './stored-timer.ts';
import { Fifo } from './work-order.ts';

/** ms until what a store cannot do at present is tried again. */
const PAUSE_MS = 1000;
/** Deliveries that are begun in one go: some 2 ms. */
const MOST_BEGUN = 100;

/** A timer that has a slot. */
interface UnderWay {
  state: 'claiming' | 'running' | 'settling';
  /** What else of the same key is due by now. */
  readonly next: DueTimer[];
  interrupt: () => void;
}

/**
 * Delivers timers, wherever they are kept: at most `concurrency` at a time, those of one key one after the other, else in the order in
 * which they came.
 *
 *     push ─▶ waiting ─slot─▶ claiming ─▶ running ─▶ settling ─▶ released      done: forgotten; again: due later; dead: kept as such
 *                │               │           └ interrupted: `close` waits no longer. It is scheduled as before, and the attempt does not count
 *                └── closed ─────┴── not due, cancelled, another's ─▶ released
 *
 * The claim is kept before the handler begins, so an attempt that kills its process has been counted. What the store cannot do is
 * repeated until it can; until then the timer is this process's, and its slot taken.
 */
export class Delivery {
  private readonly host: DurableHost;
  private readonly waiting = new Fifo<DueTimer>();
  private readonly underWay = new Map<string, UnderWay>();
  private isClosed = false;
  private isResuming = false;
  private unsettled: Error | undefined;
  private changed: (() => void) | undefined;

  constructor(host: DurableHost) {
    this.host = host;
  }

  push(timer: DueTimer): void {
    this.waiting.push(timer);
    if (!this.isResuming) this.begin();
  }

  /** Begins no further attempt. Resolves when no handler runs; those that run after `within` ms are interrupted. */
  async close(within: number): Promise<void> {
    this.isClosed = true;
    this.begin();
    const over = within === Number.POSITIVE_INFINITY ? undefined : setTimeout(this.interrupt, within);
    await this.until(() => ![...this.underWay.values()].some(({ state }) => state === 'running'));
    clearTimeout(over);
  }

  /** After `close`: resolves when what has become of all timers is kept; rejects with the store's error if that failed. */
  async settled(): Promise<void> {
    await this.until(() => this.underWay.size === 0);
    if (this.unsettled !== undefined) throw this.unsettled;
  }

  private readonly interrupt = (): void => {
    for (const each of this.underWay.values()) each.interrupt();
  };

  private async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.changed = resolve;
      });
    }
  }

  private readonly begin = (): void => {
    this.isResuming = false;
    for (let begun = 0; this.isClosed || this.underWay.size < this.host.settings.concurrency; begun++) {
      if (begun === MOST_BEGUN) {
        this.isResuming = true;
        setImmediate(this.begin);
        return;
      }
      const timer = this.waiting.shift();
      if (timer === undefined) return;
      const id = idOf(timer);
      const before = this.underWay.get(id);
      if (this.isClosed) timer.released?.();
      else if (before !== undefined) before.next.push(timer);
      else void this.take(id, timer);
    }
  };

  private async take(id: string, timer: DueTimer): Promise<void> {
    const slot: UnderWay = { state: 'claiming', next: [], interrupt: () => undefined };
    this.underWay.set(id, slot);
    await this.deliver(timer, slot);
    this.underWay.delete(id);
    timer.released?.();
    for (const next of slot.next) this.waiting.push(next);
    this.changed?.();
    if (!this.isResuming) this.begin();
  }

  /** Never rejects. */
  private async deliver(due: DueTimer, slot: UnderWay): Promise<void> {
    const claim = await this.insist(() => due.claim());
    if (claim === undefined) return;
    const { attempt } = claim;
    const ending: Ending = hasEnded(claim) ? { kind: 'done' } : await this.attempt(attempt, slot);
    slot.state = 'settling';
    this.changed?.();
    const counts = await this.insist(() => due.settle(attempt, ending));
    if (counts === true && ending.kind === 'dead') this.host.died(ending.timer);
  }

  private async attempt(timer: StoredTimer, slot: UnderWay): Promise<Ending> {
    const { retry } = this.host.settings;
    if (timer.attempts > retry.attempts) {
      const reason = 'The process died during the last attempt';
      return { kind: 'dead', timer: { ...timer, attempts: retry.attempts, diedAt: Date.now(), reason } };
    }
    const isTooEarly = timer.due > Date.now(); // the clock was set back while the claim was kept
    const failure = this.isClosed || isTooEarly ? 'interrupted' : await this.run(timer, slot);
    if (failure === undefined) return { kind: 'done' };
    if (failure === 'interrupted') return { kind: 'again', timer: { ...timer, attempts: timer.attempts - 1 } };
    const now = Date.now();
    return timer.attempts < retry.attempts
      ? { kind: 'again', timer: { ...timer, due: Math.max(timer.deadline, now + pauseAfter(timer.attempts, retry)) } }
      : { kind: 'dead', timer: { ...timer, diedAt: now, reason: messageOf(failure.thrown) } };
  }

  /** Runs the handler. Resolves with how it has failed, if it has. */
  private run(timer: StoredTimer, slot: UnderWay): Promise<{ thrown: unknown } | 'interrupted' | undefined> {
    const { counts } = this.host;
    const { name, key, deadline, attempts: attempt } = timer;
    slot.state = 'running';
    counts.began(Date.now() - timer.due, attempt);
    return new Promise((resolve) => {
      slot.interrupt = () => resolve('interrupted');
      const handler = this.host.handlers.get(name) as DurableHandler<unknown>;
      outsideContexts(async () => handler(decodePayload(timer.payload), { name, key, deadline, attempt })).then(
        () => {
          counts.delivered += 1;
          resolve(undefined);
        },
        (thrown: unknown) => {
          counts.failed += 1;
          resolve({ thrown });
        },
      );
    });
  }

  /** Repeats what cannot be done at present; after the close not any more. */
  private async insist<T>(work: () => Promise<T>): Promise<T | undefined> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        this.host.failed(error);
        if (this.isClosed) {
          this.unsettled = error as Error;
          return undefined;
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }
}

function hasEnded({ isOver }: Claim): boolean {
  try {
    return isOver?.() ?? false;
  } catch {
    return false; // a store that cannot be read says so when the attempt is settled
  }
}
