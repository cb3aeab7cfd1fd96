import { type DurableOptions, type DurableStore, type DurableTimers, openDurableTimers } from 'shardwheel/durable';
import { expect } from 'vitest';

/** How a suite gets a store of the kind that is tested. */
export interface StoreKind {
  /**
   * Another way to the same timers each time that it is called, as another process would have it. Called within a test.
   */
  open(): DurableStore;
  /** Makes an empty store, before each test. */
  create(): void | Promise<void>;
  /**
   * Whether an attempt runs from when the store has given it away: its handler may begin after another's cancel.
   * docs/durable.md, 3.
   */
  readonly givesAway?: boolean;
  destroy(): void | Promise<void>;
}

/** A delivery, as its handler saw it. */
export interface Seen {
  key: string;
  payload: unknown;
  attempt: number;
  early: boolean;
}

/** ms within which what is expected comes. */
const PATIENCE = 5000;

/** What the tests of a kind of store use. */
export class Stores {
  readonly kind: StoreKind;
  private readonly opened: DurableTimers[] = [];

  constructor(kind: StoreKind) {
    this.kind = kind;
  }

  async start(options: Partial<DurableOptions> = {}): Promise<DurableTimers> {
    const timers = await openDurableTimers({ store: this.kind.open(), retry: { delay: 20, maxDelay: 40 }, ...options });
    this.opened.push(timers);
    return timers;
  }

  async end(): Promise<void> {
    for (const timers of this.opened.splice(0)) await timers.close();
    await this.kind.destroy();
  }

  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let left = PATIENCE; left > 0 && !(await isSo()); left -= 5) await pause(5);
    expect(await isSo()).toBe(true);
  }
}

/** Handles the name 'a', and notes each delivery. */
export function note(timers: DurableTimers, work: (seen: Seen) => unknown = () => undefined): Seen[] {
  const list: Seen[] = [];
  timers.handle('a', (payload, { key, deadline, attempt }) => {
    const seen = { key, payload, attempt, early: Date.now() < deadline };
    list.push(seen);
    return work(seen);
  });
  return list;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A deadline in some ms. */
export const soon = (ms = 50): number => Date.now() + ms;

/** The end of a handler that waits. */
export function latch(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Long enough for what must not happen. */
export const nothingMore = (): Promise<void> => pause(120);

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
