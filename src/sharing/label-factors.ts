import { WORDS_PER_GROUP } from '../memory/shared-words.ts';

/**
 * The factors of labels that are scaled in every client of a shared scheduler, by name: a table in shared memory, so
 * that a client that comes later, or makes the label later, finds them without asking anybody.
 *
 *     group 0          how often any factor has been set
 *     per name         state     0: free, and so are all behind it; WRITING; else the length of the name
 *                      set       how often its factor has been set
 *                      factor    a double, stored as a whole
 *                      name      UTF-16
 *
 * A name is added once and stays. An entry is taken by compare-and-exchange, and its name is read only once its state
 * says that it is there. If a thread ends while it writes one, the entry is lost and passed over. If two threads add a
 * name at once, it has two entries: everybody reads the first, and the latest call to set it decides.
 */
const SET = 1;
const FACTOR = 2;
const NAME = 4;
const WRITING = -1;

/** Maximum of UTF-16 units of a name: see `MAX_LENGTH`. */
const MAX_NAME = 128;
const ENTRY_WORDS = Math.ceil((NAME + MAX_NAME / 2) / WORDS_PER_GROUP) * WORDS_PER_GROUP;
/** Maximum of names. */
export const MAX_SCALED = 1024;

/** A factor as somebody has set it. `stamp` differs from that of any other setting of the name. */
interface SetFactor {
  readonly factor: number;
  readonly stamp: number;
}

export class LabelFactors {
  static readonly WORDS = WORDS_PER_GROUP + MAX_SCALED * ENTRY_WORDS;
  private readonly words: Int32Array;
  private readonly names: Uint16Array;
  private readonly bits: BigInt64Array;

  /** Precondition: the words begin at a multiple of 8 bytes, and are 0 at first. */
  constructor(words: Int32Array) {
    const { buffer, byteOffset, byteLength } = words;
    this.words = words;
    this.names = new Uint16Array(buffer, byteOffset, byteLength / 2);
    this.bits = new BigInt64Array(buffer, byteOffset, byteLength / 8);
  }

  /** How often any factor has been set: a word that wraps. */
  get changes(): number {
    return Atomics.load(this.words, 0);
  }

  /** Sets the factor of a name. Returns whether there was room for it. */
  set(name: string, factor: number): boolean {
    const at = this.find(name) ?? this.add(name);
    if (at === undefined) return false;
    Atomics.store(this.bits, (at + FACTOR) / 2, bitsOf(factor)); // before the counts: who sees these finds it
    Atomics.add(this.words, at + SET, 1);
    Atomics.add(this.words, 0, 1);
    return true;
  }

  /** Undefined if nobody has set one for this name. */
  read(name: string): SetFactor | undefined {
    const at = this.find(name);
    if (at === undefined) return undefined;
    const set = Atomics.load(this.words, at + SET);
    if (set === 0) return undefined; // just added
    return { factor: factorOf(Atomics.load(this.bits, (at + FACTOR) / 2)), stamp: at * 2 ** 32 + (set >>> 0) };
  }

  private find(name: string): number | undefined {
    for (let at = WORDS_PER_GROUP; at < LabelFactors.WORDS; at += ENTRY_WORDS) {
      const state = Atomics.load(this.words, at); // pairs with the last store of `add`
      if (state === 0) return undefined;
      if (state === name.length && this.isNamed(at, name)) return at;
    }
    return undefined;
  }

  private isNamed(at: number, name: string): boolean {
    for (let i = 0; i < name.length; i++) if (this.names[2 * (at + NAME) + i] !== name.charCodeAt(i)) return false;
    return true;
  }

  private add(name: string): number | undefined {
    for (let at = WORDS_PER_GROUP; at < LabelFactors.WORDS; at += ENTRY_WORDS) {
      if (Atomics.compareExchange(this.words, at, 0, WRITING) !== 0) continue;
      for (let i = 0; i < name.length; i++) this.names[2 * (at + NAME) + i] = name.charCodeAt(i);
      Atomics.store(this.words, at, name.length); // publishes the name
      return at;
    }
    return undefined;
  }
}

const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

function bitsOf(factor: number): bigint {
  double[0] = factor;
  return bits[0];
}

function factorOf(stored: bigint): number {
  bits[0] = stored;
  return double[0];
}
