import { InvalidArgumentError, InvalidDeadlineError } from '../../errors.ts';
import { CascadingIndex } from '../../wheel/cascading/cascading-index.ts';
import { presets } from '../../wheel/presets.ts';
import type { DueSink } from '../../wheel/tick-index.ts';
import { type CascadingConfig, MAX_CAPACITY, validateConfig } from '../../wheel/wheel-config.ts';

/** What `add` returns: names the element for `remove` and `has`. */
export interface QueueElement<T> {
  readonly key: number;
  readonly value: T;
}

/**
 * A priority queue of integer keys whose minimum allowed key only rises. Elements leave it when that passes their key:
 *
 *    0 <= minAllowedKey <= key of each element <= maxAllowedKey <= maxRepresentableKey
 *    maxAllowedKey >= min(maxRepresentableKey, minAllowedKey + 2^bits - 1), bits being the sum of the level bits
 *
 * A key is the number of an interval: it is filed at tick key + 1, so that the index hands over, on advancing to tick
 * m, the keys < m. add and remove O(1); increaseMinAllowedKey by occupied slots met. Elements of one key leave in the
 * order in which they were added.
 */
export class MonotoneQueue<T> implements Iterable<QueueElement<T>> {
  readonly maxRepresentableKey: number;
  private readonly index: CascadingIndex;
  private readonly elements: (QueueElement<T> | undefined)[] = [];
  private readonly slots = new Map<QueueElement<T>, number>();
  private readonly free: number[] = [];

  /** Creates an empty queue. Throws InvalidConfigError. Default level bits: those of the janestreet preset. */
  constructor(levelBits: number[] = (presets.janestreet as CascadingConfig).levelBits) {
    validateConfig({ engine: 'cascading', precision: 1, levelBits });
    this.index = new CascadingIndex({ levelBits, capacity: MAX_CAPACITY, overflow: 'throw' });
    // Key + 1 must be a tick, and the clock must be able to reach the tick after it.
    this.maxRepresentableKey = Number.MAX_SAFE_INTEGER - 1;
  }

  get size(): number {
    return this.index.size;
  }

  get minAllowedKey(): number {
    return this.index.now;
  }

  get maxAllowedKey(): number {
    return Math.min(this.index.upperBound - 2, this.maxRepresentableKey);
  }

  /** Adds an element. Throws InvalidDeadlineError unless minAllowedKey <= key <= maxAllowedKey. */
  add(key: number, value: T): QueueElement<T> {
    if (!Number.isSafeInteger(key)) throw new InvalidDeadlineError(key, 'must be a safe integer', 'key');
    if (key < this.minAllowedKey || key > this.maxAllowedKey) {
      throw new InvalidDeadlineError(key, `must be from ${this.minAllowedKey} to ${this.maxAllowedKey}`, 'key');
    }
    const element: QueueElement<T> = { key, value };
    const slot = this.free.at(-1) ?? this.elements.length;
    this.index.insert(slot, key + 1); // memory may be refused: then nothing has changed
    this.free.pop();
    this.elements[slot] = element;
    this.slots.set(element, slot);
    return element;
  }

  /** Removes an element. Returns false if it is not in this queue. */
  remove(element: QueueElement<T>): boolean {
    const slot = this.slots.get(element);
    if (slot === undefined) return false;
    this.index.remove(slot);
    this.release(element, slot);
    return true;
  }

  /** Returns whether the element is in this queue. */
  has(element: QueueElement<T>): boolean {
    return this.slots.has(element);
  }

  /** Returns the least key; undefined if the queue is empty. */
  minKey(): number | undefined {
    return this.size === 0 ? undefined : this.index.nextTick() - 1;
  }

  /** Returns an element with the smallest key, by reading all. */
  minElement(): QueueElement<T> | undefined {
    const earliest = this.minKey();
    for (const element of this.slots.keys()) if (element.key === earliest) return element;
    return undefined;
  }

  /**
   * Raises the minimum allowed key and hands over every element below it, in order of key. Does nothing if `key` is not
   * above it. Throws InvalidDeadlineError if `key` is above maxRepresentableKey. If a handler throws, the minimum stays
   * at the key reached so far, and the handler's element is removed. Throws InvalidArgumentError without a handler.
   */
  increaseMinAllowedKey(key: number, onRemoved: (element: QueueElement<T>) => void): void {
    if (!Number.isSafeInteger(key) || key > this.maxRepresentableKey) {
      throw new InvalidDeadlineError(key, `must be a safe integer of at most ${this.maxRepresentableKey}`, 'key');
    }
    if (typeof onRemoved !== 'function') throw new InvalidArgumentError('onRemoved', 'must be a function', onRemoved);
    const sink: DueSink = {
      due: (slot) => {
        const element = this.elements[slot] as QueueElement<T>;
        this.release(element, slot);
        onRemoved(element);
      },
    };
    this.index.advanceTo(key, sink, Number.POSITIVE_INFINITY);
  }

  /** Removes every element. The minimum allowed key stays. */
  clear(): void {
    this.index.clear();
    this.slots.clear();
    this.elements.length = 0;
    this.free.length = 0;
  }

  [Symbol.iterator](): Iterator<QueueElement<T>> {
    return this.slots.keys();
  }

  private release(element: QueueElement<T>, slot: number): void {
    this.slots.delete(element);
    this.elements[slot] = undefined;
    this.free.push(slot);
  }
}
