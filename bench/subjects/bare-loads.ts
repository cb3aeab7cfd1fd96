import type { LiveTimers, Subject } from '../replay/subjects/subject.ts';
import type { TimerKind } from '../replay/timer-kind.ts';

const RECORD = 2; // words to a record, as a shift
const DUE = 0;
const TAG = 1;
const SLOT_BITS = 24;
const SLOT_MASK = 2 ** SLOT_BITS - 1;
/**
 * Slices after which what was written is read again, as it is when a stage is full: 4,096 commands, at 400 in a slice.
 */
const SLICES = 10;

/**
 * What the calls of a scheduler with a shard read and write at random, and nothing else: no order, no ticks, no checks,
 * no clock, and nothing ever fires. So it is what memory alone takes of an operation.
 *
 *     start     the record of the slot that was freed last, a byte for the callback, a word for the argument, the
 *               caller's id
 *     cancel    the caller's id, then the record that it names
 *     move      the same
 *     publish   each record that was written some slices ago, once more
 */
export class BareLoads implements Subject {
  readonly ready = Promise.resolve();
  private readonly ids: Float64Array;
  private readonly records: Int32Array;
  private readonly callbacks: Uint8Array;
  private readonly arguments: Int32Array;
  private readonly free: Int32Array;
  private freed: number;
  private readonly staged: number[][] = Array.from({ length: SLICES }, () => []);
  private slice = 0;
  /** Of what was published: so that it is read. */
  private published = 0;

  constructor(handles: number) {
    this.ids = new Float64Array(handles).fill(0);
    this.records = new Int32Array(handles << RECORD).fill(0);
    this.callbacks = new Uint8Array(handles).fill(0);
    this.arguments = new Int32Array(handles).fill(0);
    this.free = Int32Array.from({ length: handles }, (_, slot) => handles - 1 - slot);
    this.freed = handles;
  }

  beginSlice(): void {
    this.slice = (this.slice + 1) % SLICES;
    const staged = this.staged[this.slice];
    let published = 0;
    for (let at = 0; at < staged.length; at++) published ^= this.records[staged[at] << RECORD];
    staged.length = 0;
    this.published ^= published;
  }

  arm(_kind: TimerKind, handle: number, _hint: number, delay: number, timer: number): void {
    const { records } = this;
    const slot = this.free[--this.freed];
    const tag = records[(slot << RECORD) | TAG] + 1;
    records[(slot << RECORD) | DUE] = delay;
    records[(slot << RECORD) | TAG] = tag;
    this.callbacks[slot] = 1;
    this.arguments[slot] = timer;
    this.ids[handle] = (tag & 0xffff) * 2 ** SLOT_BITS + slot;
    this.staged[this.slice].push(slot);
  }

  move(handle: number, delay: number): boolean {
    const slot = this.ids[handle] & SLOT_MASK;
    if ((this.records[(slot << RECORD) | TAG] & 1) === 0) return false;
    this.records[(slot << RECORD) | DUE] = delay;
    return true;
  }

  cancel(handle: number): boolean {
    const slot = this.ids[handle] & SLOT_MASK;
    if ((this.records[(slot << RECORD) | TAG] & 1) === 0) return false;
    this.records[(slot << RECORD) | TAG] += 1;
    this.free[this.freed++] = slot;
    return true;
  }

  forget(): void {}

  async stats(): Promise<unknown> {
    return this.published;
  }

  async close(handBack: (timer: number) => void, live: LiveTimers): Promise<void> {
    live((_handle, timer) => handBack(timer));
  }
}
