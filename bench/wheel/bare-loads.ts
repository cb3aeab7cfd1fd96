import type { WheelSubject } from './wheel-subject.ts';

const RECORD = 2;
const SLOT_MASK = 2 ** 24 - 1;

/**
 * What no wheel that cancels by id goes below: per pair two loads, the id from where the caller keeps it, then the record
 * that the id names, whose address nobody knows before. Frozen, as the yardsticks are.
 *
 *    ids[timer] ──▶ records[4 × slot .. + 3]        16 bytes: as large as id, place, tick and value are
 */
export class BareLoads implements WheelSubject {
  declare private readonly ids: Float64Array;
  declare private readonly records: Int32Array;
  /** What was loaded, so that loading it is no waste that a compiler may leave out. */
  private loaded = 0;

  constructor(ids: Float64Array) {
    this.ids = ids;
    this.records = new Int32Array(ids.length << RECORD);
    for (let timer = 0; timer < ids.length; timer++) {
      ids[timer] = timer;
      this.records[timer << RECORD] = timer; // memory that was never written is one page of zeros
    }
  }

  schedule(): void {}

  cancel(timer: number): void {
    this.loaded = (this.loaded + this.records[(this.ids[timer] & SLOT_MASK) << RECORD]) | 0;
  }

  advanceTo(): void {}
}
