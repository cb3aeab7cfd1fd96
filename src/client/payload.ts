import type { Callback, Context } from '../async-context/context-keeper.ts';
import { allocateSlots, growSlots, wordsIn } from '../memory/shared-words.ts';
import { CallbackPalette, OUT_OF_LINE } from './callback-palette.ts';

// Taken once: a program may replace them.
const { ceil, min } = Math;

/** Words of `bytes` per slot. */
const BYTE = 1 / 4;

const CHUNK_BITS = 14;
const CHUNK_SLOTS = 2 ** CHUNK_BITS;
const CHUNK_MASK = CHUNK_SLOTS - 1;

/**
 * A reference per slot, in chunks that are created at the first reference of a chunk. A single array would be copied as
 * it grows: that stops the event loop for milliseconds at millions of timers, and holds up to half as much again as
 * necessary.
 */
export class SlotReferences {
  private readonly chunks: (unknown[] | undefined)[];
  private readonly chunkLength: number;

  constructor(capacity: number) {
    this.chunkLength = min(CHUNK_SLOTS, capacity);
    this.chunks = new Array<unknown[] | undefined>(ceil(capacity / CHUNK_SLOTS)).fill(undefined);
  }

  get(slot: number): unknown {
    return this.chunks[slot >> CHUNK_BITS]?.[slot & CHUNK_MASK];
  }

  set(slot: number, reference: unknown): void {
    const chunk = this.chunks[slot >> CHUNK_BITS] ?? this.begin(slot);
    chunk[slot & CHUNK_MASK] = reference;
  }

  private begin(slot: number): unknown[] {
    const chunk = new Array<unknown>(this.chunkLength).fill(undefined);
    this.chunks[slot >> CHUNK_BITS] = chunk;
    return chunk;
  }
}

const CODE = 15;
const WHOLE = 16;
const REFERENCE = 32;
const CONTEXT = 64;
const REPEATS = 128;

/**
 * What the timers of a lane carry: callback, argument and async context of each slot, which never leave the client's
 * thread.
 *
 *   byte of a slot    bits 0–3   its callback: see CallbackPalette; with OUT_OF_LINE it is in `outOfLine`
 *                     bit 4      its argument is a whole number, in `numbers`
 *                     bit 5      its argument is anything else but undefined, in `references`
 *                     bit 6      it has a context, in `contexts`
 *                     bit 7      its timer repeats
 *
 * So a timer with a shared callback costs 1 byte, 5 with a whole number (an index of the caller's own, say), 9 with an
 * object, 8 more with a closure of its own, 8 more in a context. The garbage collector neither marks nor moves bytes
 * and numbers. They are not shared, but use shared memory because that is laid out at once for the whole capacity, is
 * not copied to grow, and is resident only where it is touched.
 */
export class Payload {
  // What `take` has found last.
  callback: unknown = undefined;
  argument: unknown = undefined;
  context: Context = undefined;
  repeats = false;
  private bytes: Uint8Array<SharedArrayBuffer>;
  private numbers: Int32Array<SharedArrayBuffer>;
  private readonly capacity: number;
  private readonly palette = new CallbackPalette();
  private readonly outOfLine: SlotReferences;
  private readonly references: SlotReferences;
  private readonly contexts: SlotReferences;

  constructor(capacity: number) {
    this.capacity = capacity;
    const bytes = allocateSlots(BYTE, capacity);
    this.bytes = new Uint8Array(bytes, 0, bytes.byteLength);
    this.numbers = wordsIn(allocateSlots(1, capacity));
    this.outOfLine = new SlotReferences(capacity);
    this.references = new SlotReferences(capacity);
    this.contexts = new SlotReferences(capacity);
  }

  /** Slots for which there is memory: the capacity, unless that was refused. */
  get room(): number {
    return min(this.capacity, this.bytes.length, this.numbers.length);
  }

  /** Sees to it that there is memory for so many slots. If it is refused, throws and changes nothing that is read. */
  reserve(slots: number): void {
    const { capacity, numbers } = this;
    if (slots > numbers.length) this.numbers = wordsIn(growSlots(numbers.buffer, 1, capacity, slots));
    if (slots <= this.bytes.length) return;
    const bytes = growSlots(this.bytes.buffer, BYTE, capacity, slots);
    this.bytes = new Uint8Array(bytes, 0, bytes.byteLength);
  }

  set(slot: number, callback: unknown, argument: unknown, context: Context): void {
    let byte = callback === this.palette.recent ? this.palette.recentCode : this.codeOf(slot, callback);
    if (typeof argument === 'number' && (argument | 0) === argument && (argument !== 0 || 1 / argument > 0)) {
      this.numbers[slot] = argument;
      byte |= WHOLE;
    } else if (argument !== undefined) {
      this.references.set(slot, argument);
      byte |= REFERENCE;
    }
    if (context !== undefined) {
      this.contexts.set(slot, context);
      byte |= CONTEXT;
    }
    if (this.bytes[slot] !== byte) this.change(slot, byte);
  }

  setRepeating(slot: number): void {
    this.bytes[slot] |= REPEATS;
  }

  isRepeating(slot: number): boolean {
    return this.bytes[slot] >= REPEATS;
  }

  clear(slot: number): void {
    if (this.bytes[slot] !== 0) this.change(slot, 0);
  }

  callbackOf(slot: number): Callback | undefined {
    const code = this.bytes[slot] & CODE;
    return (code === OUT_OF_LINE ? this.outOfLine.get(slot) : this.palette.callbacks[code]) as Callback | undefined;
  }

  /**
   * For a delivery: reads all that a slot carries into `callback`, `argument`, `context` and `repeats`, and releases it
   * unless its timer repeats.
   */
  take(slot: number): void {
    const byte = this.bytes[slot];
    const code = byte & CODE;
    this.callback = code === OUT_OF_LINE ? this.outOfLine.get(slot) : this.palette.callbacks[code];
    if ((byte & WHOLE) !== 0) this.argument = this.numbers[slot];
    else this.argument = (byte & REFERENCE) !== 0 ? this.references.get(slot) : undefined;
    this.context = (byte & CONTEXT) !== 0 ? this.contexts.get(slot) : undefined;
    this.repeats = byte >= REPEATS;
    if (byte !== 0 && !this.repeats) this.change(slot, 0);
  }

  argumentOf(slot: number): unknown {
    const byte = this.bytes[slot];
    if ((byte & WHOLE) !== 0) return this.numbers[slot];
    return (byte & REFERENCE) !== 0 ? this.references.get(slot) : undefined;
  }

  /** Reads the payload of a slot, to bring it into the cache. The result is only a number to use. */
  prefetch(slot: number): number {
    const byte = this.bytes[slot];
    if ((byte & REFERENCE) === 0) return byte ^ this.numbers[slot];
    return this.references.get(slot) === undefined ? 0 : 1;
  }

  private codeOf(slot: number, callback: unknown): number {
    const code = this.palette.codeOf(callback);
    if (code === OUT_OF_LINE) this.outOfLine.set(slot, callback);
    return code;
  }

  /** Writes a slot's byte, and releases what it no longer names. */
  private change(slot: number, byte: number): void {
    const before = this.bytes[slot];
    this.bytes[slot] = byte;
    if ((before & REFERENCE) !== 0 && (byte & REFERENCE) === 0) this.references.set(slot, undefined);
    if ((before & CONTEXT) !== 0 && (byte & CONTEXT) === 0) this.contexts.set(slot, undefined);
    if ((before & CODE) === (byte & CODE)) return;
    if ((before & CODE) === OUT_OF_LINE) this.outOfLine.set(slot, undefined);
    this.palette.carry(byte & CODE, before & CODE);
  }
}
