import { EventEmitter } from 'node:events';
import type { Attempts } from '../../src/extras/durable/attempts/attempts.ts';
import { DurableCore, type DurableSettings } from '../../src/extras/durable/attempts/durable-core.ts';
import type { DurableStore } from '../../src/extras/durable/durable-store.ts';
import { replaces } from '../../src/extras/durable/kept.ts';
import type { Claim, DueTimer, StoredTimer } from '../../src/extras/durable/stored-timer.ts';
import type { Alarms } from '../../src/extras/durable/unstored/alarms.ts';
import { Unstored } from '../../src/extras/durable/unstored/unstored.ts';
import type { UnstoredTimer } from '../../src/extras/durable/unstored/unstored-timer.ts';
import { realWallClock } from '../../src/extras/durable/wall-clock.ts';

export const FAR = 8e15;
export const NEARER = FAR - 1;
export const PAST = 0;
export const NAME = 'a';

/**
 * A deadline is past or far away, and alarms ring when the program says so: the monotonic clock goes to when a timer is
 * to be stored.
 */
export class UnstoredWorld {
  /** What the store has, by key; and the calls that it has not answered. */
  readonly stored = new Map<string, StoredTimer>();
  readonly dead: StoredTimer[] = [];
  private readonly calls: { run: () => unknown; resolve: (answer: never) => void; reject: (error: Error) => void }[] =
    [];
  /** What is in the hands of `Attempts`, and what it has under way, by key. */
  readonly pushed: DueTimer[] = [];
  readonly attempts = new Map<string, { timer: DueTimer; claim: Claim }>();
  readonly armed = new Set<UnstoredTimer>();
  readonly unstored: Unstored;
  readonly host: DurableCore;
  hasRoom = true;
  private now = 0;

  constructor() {
    const settings = { scheduler: undefined, clock: realWallClock, youngLimit: 100 } as DurableSettings;
    this.host = new DurableCore(settings, new EventEmitter());
    void this.host.alarms.close();
    const alarms = {
      add: () => undefined,
      set: (timer: UnstoredTimer) => (this.hasRoom ? Boolean(this.armed.add(timer)) : false),
      unset: (timer: UnstoredTimer) => this.armed.delete(timer),
    } as unknown as Alarms;
    Object.assign(this.host, { alarms, failed: () => undefined });
    const call = <T>(run: () => T): Promise<T> =>
      new Promise((resolve, reject) => this.calls.push({ run, resolve: resolve as never, reject }));
    const store: Partial<DurableStore> = {
      bounded: (work) => work,
      has: (_, key) => this.stored.has(key),
      put: (timer, kept) =>
        call(() => {
          const before = this.stored.get(timer.key);
          const isPut = before === undefined || replaces(timer, before, kept);
          if (isPut) this.stored.set(timer.key, timer);
          return isPut;
        }),
      remove: (_, key) => call(() => this.stored.delete(key)),
      bury: (timer) => call(() => void this.dead.push(timer)),
      move: (_, key, deadline) =>
        call(() => {
          const before = this.stored.get(key);
          if (before !== undefined) this.stored.set(key, { ...before, deadline, due: deadline, attempts: 0 });
          return before !== undefined;
        }),
    };
    const attempts = {
      push: (timer: DueTimer) => this.pushed.push(timer),
      underWay: () => undefined,
    } as unknown as Attempts;
    this.unstored = new Unstored(store as DurableStore, this.host, attempts, () => this.now);
  }

  get isAsked(): boolean {
    return this.calls.length > 0;
  }

  /** The store answers the first call. */
  async answer(how: 'done' | 'failed' | 'done, and not said'): Promise<void> {
    const call = this.calls.shift();
    if (call === undefined) return;
    const answer = how === 'failed' ? undefined : call.run();
    if (how === 'done') call.resolve(answer as never);
    else call.reject(new Error('as the test wants it'));
    await settled();
  }

  ring(timer: UnstoredTimer): void {
    this.armed.delete(timer);
    if (timer.state !== 'young' || timer.timer.due > PAST) this.now = Math.max(this.now, timer.storeAt);
    timer.wake();
  }

  /** `Attempts` takes the first that is not of a key which has an attempt under way. */
  async begin(): Promise<void> {
    const at = this.pushed.findIndex(({ key }) => !this.attempts.has(key));
    if (at < 0) return;
    const [timer] = this.pushed.splice(at, 1);
    const claim = await timer.claim();
    if (claim !== undefined) this.attempts.set(timer.key, { timer, claim });
  }
}

export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function timerOf(key: string, deadline: number, payload: number): StoredTimer {
  return {
    name: NAME,
    key,
    deadline,
    due: deadline,
    attempts: 0,
    payload: new Uint8Array([payload % 256, payload >> 8]),
  };
}
