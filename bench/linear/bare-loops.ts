import { allocateWords, doublesIn, wordsIn } from '../../src/memory/shared-words.ts';
import { SEED, scaled, scaleFor, xorshift } from '../xorshift.ts';
import { cpuEach } from './cpu.ts';
import { FAR_SPAN, scattered } from './timer-load.ts';

/**
 * The control: loops that touch memory as the operations do, as much of it in the same order, and do nothing else. What
 * they take more of at more timers is what caches and address translation take. Where the order is one that no processor
 * foresees, each address depends on what the load before it has brought, as a call's do that has to know the id, then
 * the record, then what the timer carried.
 *
 *     record   4 words a timer, as in the lane's table: due, tag, deadline
 *     slots    tags and positions, 4 bytes each; payload: a byte and 4
 *     lists    entries of 8 bytes in chunks of 512, as many lists as there are slots of 256 ticks
 */
const LISTS = 256;
const CHUNK = 128;
/** Timers of one call: a loop that is entered once would be compiled while it runs. */
const RUN = 2 ** 12;

export class BareLoops {
  private readonly count: number;
  private readonly words: Int32Array;
  private readonly doubles: Float64Array;
  private readonly bytes: Uint8Array;
  private readonly numbers: Int32Array;
  private readonly stage: Int32Array;
  private readonly ids: Float64Array;
  private tags: Int32Array;
  private position: Int32Array;
  private cells: Int32Array;
  private order: Int32Array = new Int32Array(0);
  private readonly cursors = new Int32Array(LISTS);
  private chunks = 1;
  private random = SEED;
  private head = -1;
  /** Always 0, which only memory knows. */
  private carry = 0;
  private all: { id: number; deadline: number; argument: unknown }[] = [];

  /** Precondition: count is a power of two. */
  constructor(count: number) {
    const fresh = (words: number) => wordsIn(allocateWords(words));
    const table = allocateWords(4 * count);
    this.count = count;
    this.words = wordsIn(table);
    this.doubles = doublesIn(table);
    this.bytes = new Uint8Array(allocateWords(Math.ceil(count / 4)), 0, count);
    this.numbers = fresh(count);
    this.stage = fresh(2 * count);
    this.ids = new Float64Array(count).fill(1);
    this.tags = fresh(count);
    this.position = fresh(count);
    this.cells = fresh(2 * count + (LISTS + 1) * CHUNK);
  }

  /** Writes record, payload, stage and id of each, in order. */
  schedule(): Promise<number> {
    return this.each(this.write);
  }

  /** Reads stage and record of each, in order, and appends it to one of many lists. */
  publish(): Promise<number> {
    this.clearLists();
    return this.each((from, to) => this.file(from, to, true));
  }

  /** The same without a stage, after the record of each was read once; tags, positions and lists are fresh. */
  rebuild(): Promise<number> {
    const { count } = this;
    this.clearLists();
    this.tags = wordsIn(allocateWords(count));
    this.position = wordsIn(allocateWords(count));
    this.cells = wordsIn(allocateWords(this.cells.length));
    return cpuEach(count, () => {
      this.inRuns(this.read);
      this.inRuns((from, to) => this.file(from, to, false));
    });
  }

  /** For each, in no order: id, record, payload; the record is made the next of a chain. */
  cancel(): Promise<number> {
    return this.each(this.end);
  }

  /** In order of ticks, all of a tick in order: the shard's words of each, then record and payload. */
  fire(span: number): Promise<number> {
    this.order = this.byTick(span);
    return cpuEach(this.count, () => {
      this.inRuns(this.place); // once, from one level to the next
      this.inRuns(this.handOver);
    });
  }

  /** Makes an object for each, in order. */
  close(): Promise<number> {
    return this.each(this.gather);
  }

  private each(run: (from: number, to: number) => void): Promise<number> {
    return cpuEach(this.count, () => this.inRuns(run));
  }

  private inRuns(run: (from: number, to: number) => void): void {
    for (let from = 0; from < this.count; from += RUN) run.call(this, from, Math.min(from + RUN, this.count));
  }

  private write(from: number, to: number): void {
    const { bytes, doubles, ids, numbers, stage, words } = this;
    const scale = scaleFor(FAR_SPAN);
    let { random } = this;
    for (let slot = from; slot < to; slot++) {
      random = xorshift(random);
      const deadline = scaled(random, scale);
      words[4 * slot] = deadline;
      words[4 * slot + 1] |= 1;
      doubles[2 * slot + 1] = deadline;
      bytes[slot] = 1;
      numbers[slot] = slot;
      stage[2 * slot] = slot;
      stage[2 * slot + 1] = 1;
      ids[slot] = 2 ** 40 + slot;
    }
    this.random = random;
  }

  private read(from: number, to: number): void {
    const { doubles } = this;
    let least = 0;
    for (let slot = from; slot < to; slot++) least = Math.min(least, doubles[2 * slot + 1]);
    this.carry |= least;
  }

  private clearLists(): void {
    this.cursors.fill(CHUNK - 2);
    this.chunks = 1;
  }

  private file(from: number, to: number, isStaged: boolean): void {
    const { cells, cursors, doubles, position, stage, tags, words } = this;
    for (let at = from; at < to; at++) {
      const slot = isStaged ? stage[2 * at] : at;
      const list = (doubles[2 * slot + 1] >>> 8) & (LISTS - 1);
      let cell = cursors[list];
      if ((cell & (CHUNK - 1)) === CHUNK - 2) cell = Math.min(CHUNK * this.chunks++, cells.length - CHUNK);
      cells[cell] = slot;
      cells[cell + 1] = words[4 * slot];
      tags[slot] = words[4 * slot + 1];
      position[slot] = cell;
      cursors[list] = cell + 2;
    }
  }

  private end(from: number, to: number): void {
    const { bytes, count, ids, words } = this;
    let { carry, head } = this;
    for (let i = from; i < to; i++) {
      const slot = ids[scattered(i + carry, count)] & (count - 1);
      const tag = words[4 * slot + 1];
      words[4 * slot + 1] = tag + 1;
      words[4 * slot] = head;
      head = slot;
      carry = (bytes[slot + tag - 1] - 1) | 0;
      bytes[slot] = 0;
    }
    this.carry = carry;
    this.head = head;
  }

  private place(from: number, to: number): void {
    const { order, position } = this;
    for (let at = from; at < to; at++) position[order[at]] = at + 1;
  }

  private handOver(from: number, to: number): void {
    const { bytes, numbers, order, position, tags, words } = this;
    let { carry, head } = this;
    for (let at = from; at < to; at++) {
      const slot = order[at + carry];
      const isPlaced = position[slot] === at + 1 ? 0 : 1;
      position[slot] = 0;
      const tag = words[4 * slot + 1 + isPlaced];
      const isLive = tags[slot + tag - 1] === tag ? 0 : 1;
      words[4 * slot + 1] = tag + 1;
      words[4 * slot] = head;
      head = slot;
      carry = (bytes[slot + isLive] - 1) | (numbers[slot] ^ slot);
      bytes[slot] = 0;
    }
    this.carry = carry;
    this.head = head;
  }

  private gather(from: number, to: number): void {
    const { all, doubles, ids, numbers } = this;
    for (let slot = from; slot < to; slot++) {
      all.push({ id: ids[slot], deadline: doubles[2 * slot + 1] + 0.5, argument: numbers[slot] });
    }
  }

  private byTick(span: number): Int32Array {
    const { count } = this;
    const scale = scaleFor(span);
    const ticks = new Int32Array(count);
    const starts = new Int32Array(span + 1);
    let random = SEED;
    for (let slot = 0; slot < count; slot++) {
      random = xorshift(random);
      ticks[slot] = scaled(random, scale);
      starts[ticks[slot] + 1] += 1;
    }
    for (let tick = 0; tick < span; tick++) starts[tick + 1] += starts[tick];
    const order = new Int32Array(count);
    for (let slot = 0; slot < count; slot++) order[starts[ticks[slot]]++] = slot;
    return order;
  }
}
