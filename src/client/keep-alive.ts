import { outsideContexts } from '../async-context/async-context.ts';
import { process } from '../process.ts';
import { runtime } from '../runtime.ts';
import { clearInterval, MAX_NATIVE_DELAY_MS, setInterval } from '../time/native-timers.ts';

// Taken once: a program may replace them.
const { max } = Math;

/**
 * Keeps the process alive while there is a reason: more live timers than unref'd ones, or a call that waits for its
 * answer. A worker thread or its port would hold the process always or never. This is one open port that is ref'd while
 * there are reasons.
 *
 * No other part of a client holds the process: its turns and its timer are unref'd while there is no reason. So a
 * process ends when Node's own timers would let it end, and `beforeExit` is emitted as often. To ref or unref a port
 * costs 15 ns.
 *
 * The call that changes whether there are such timers updates it at once; a process that is about to end must not be
 * kept for a turn without work.
 */
export class KeepAlive {
  /** Whether live timers are a reason. */
  keepsAlive = false;
  /**
   * Live timers that do not keep the process alive: deadline signals, timeouts that are unref'd, and timers of a label
   * that says so.
   */
  unrefCount = 0;
  private isRef = true;
  private reasons = 0;
  /** Set from the first reason on. */
  private holder: Holder | undefined;
  private changed: ((isHolding: boolean) => void) | undefined;
  /** Its size: live timers. */
  private readonly client: { readonly size: number };

  constructor(client: { readonly size: number }) {
    this.client = client;
  }

  /** Whether there is a reason. */
  get isHolding(): boolean {
    return this.reasons > 0;
  }

  /** Live timers that keep the process alive. */
  get refCount(): number {
    return this.isRef ? max(0, this.client.size - this.unrefCount) : 0;
  }

  /** Calls the listener when the first reason comes, and when the last ends. There is one listener. */
  onChange(changed: (isHolding: boolean) => void): void {
    this.changed = changed;
  }

  /** Holds the process until the promise has settled. */
  async during<T>(promise: Promise<T>): Promise<T> {
    this.change(1);
    try {
      return await promise;
    } finally {
      this.change(-1);
    }
  }

  /** See `Client.heldResources`. */
  heldResources(): string[] {
    return this.isHolding ? ['MessagePort'] : [];
  }

  /** Adjusts the number of live timers that do not keep the process alive. */
  adjustUnref(by: number): void {
    this.unrefCount += by;
    this.updateRef();
  }

  /** Sets whether any live timer keeps the process alive. */
  setRef(isRef: boolean): void {
    this.isRef = isRef;
    this.updateRef();
  }

  updateRef(): void {
    const keepsAlive = this.refCount > 0;
    if (keepsAlive === this.keepsAlive) return;
    this.keepsAlive = keepsAlive;
    this.change(keepsAlive ? 1 : -1);
  }

  /** Precondition: no timer is live. */
  release(): void {
    this.updateRef();
    this.holder?.close();
  }

  private change(by: 1 | -1): void {
    this.reasons += by;
    if (by === 1 && this.reasons === 1) {
      this.holder ??= newHolder();
      this.holder.ref();
      this.changed?.(true);
    }
    if (by === -1 && this.reasons === 0) {
      this.holder?.unref();
      this.changed?.(false);
    }
  }
}

type Holder = Record<'ref' | 'unref' | 'close', () => void>;

/** A port; if that is refused, a timer. */
function newHolder(): Holder {
  return outsideContexts(() => {
    // Deno: a port without a listener holds nothing; Bun: one with a listener
    if (runtime !== 'node') return newTimer();
    try {
      const { port1, port2 } = new (process.getBuiltinModule('node:worker_threads').MessageChannel)();
      // Both ends: an end without a reference is collected, and closes the other.
      const close = (): void => {
        port1.close();
        port2.close();
      };
      return { ref: () => port1.ref(), unref: () => port1.unref(), close };
    } catch {
      // Refused: use a timer.
      return newTimer();
    }
  });
}

function newTimer(): Holder {
  const timer = setInterval(() => undefined, MAX_NATIVE_DELAY_MS);
  return { ref: () => void timer.ref(), unref: () => void timer.unref(), close: () => clearInterval(timer) };
}
