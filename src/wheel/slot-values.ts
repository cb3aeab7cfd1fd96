/** Word of a slot whose value is in the array. */
const OUT_OF_LINE = -(2 ** 31);
const INITIAL = 256;
const GROWTH = 4;

/**
 * One value per slot. A whole number of 31 bits and sign (an index of the user's own, say) is kept as a word: half the
 * memory of a reference, none of it the garbage collector's to read or to copy. Everything else is in an array that is
 * made when it is first needed.
 */
export class SlotValues<T> {
  private readonly capacity: number;
  private words = new Int32Array(0);
  private outOfLine: (T | undefined)[] | undefined;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.outOfLine = undefined;
  }

  set(slot: number, value: T): void {
    if (slot >= this.words.length) this.grow(slot);
    if (typeof value === 'number' && (value | 0) === value && value !== OUT_OF_LINE && !isMinusZero(value))
      this.words[slot] = value;
    else this.keepOutOfLine(slot, value);
  }

  /** Precondition: set. */
  get(slot: number): T {
    const word = this.words[slot];
    return word === OUT_OF_LINE ? this.readOutOfLine(slot) : (word as T);
  }

  /** Reads what there is of a slot, for no result but a number. */
  prefetch(slot: number): number {
    return this.words[slot];
  }

  /** Lets go of the value. */
  drop(slot: number): void {
    if (this.outOfLine !== undefined && this.words[slot] === OUT_OF_LINE) this.outOfLine[slot] = undefined;
  }

  get bytes(): number {
    return this.words.byteLength + (this.outOfLine === undefined ? 0 : 8 * this.outOfLine.length);
  }

  private keepOutOfLine(slot: number, value: T): void {
    this.words[slot] = OUT_OF_LINE;
    this.outOfLine ??= [];
    // Never a hole: the array stays dense.
    while (this.outOfLine.length < slot) this.outOfLine.push(undefined);
    this.outOfLine[slot] = value;
  }

  private readOutOfLine(slot: number): T {
    return (this.outOfLine as T[])[slot];
  }

  private grow(slot: number): void {
    const words = new Int32Array(Math.min(this.capacity, Math.max(INITIAL, slot + 1, GROWTH * this.words.length)));
    words.set(this.words);
    this.words = words;
  }
}

/** Which a word would give back as 0. */
const isMinusZero = (value: number): boolean => value === 0 && 1 / value < 0;
