/** Draws that follow from a run's seed and a world's number: mulberry32. */
export class WorldDraws {
  private state: number;

  constructor(seed: number, world: number) {
    this.state = (Math.imul(seed, 0x9e3779b1) + Math.imul(world + 1, 0x85ebca6b)) | 0;
    for (let i = 0; i < 4; i++) this.state ^= this.word();
  }

  /** A signed integer of 32 bits. */
  word(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return x ^ (x >>> 14);
  }

  /** An integer, 0 <= n < end. Precondition: end <= 2^31. */
  below(end: number): number {
    return ((this.word() >>> 0) * end * 2 ** -32) | 0;
  }

  /** A number, 0 <= x < 1, with 53 bits. */
  share(): number {
    return ((this.word() >>> 5) * 2 ** 26 + (this.word() >>> 6)) * 2 ** -53;
  }

  /** True in so many of 1024 cases. */
  chance(of1024: number): boolean {
    return this.word() >>> 22 < of1024;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)];
  }
}
