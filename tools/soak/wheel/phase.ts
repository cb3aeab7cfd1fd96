import type { WorldDraws } from './world-draws.ts';

/** What a move does. */
export const SCHEDULE = 0;
export const CANCEL = 1;
export const RESCHEDULE = 2;
export const ADVANCE = 3;
export const LOOK_UP = 4;
export const NEXT = 5;
export const BOUND = 6;
export const STALE = 7;
export const REFUSED = 8;
export const CLEAR = 9;
export const INSPECT = 10;
export const COMPACT = 11;
export const BEST_FIT = 12;
const JUMP = 13;

/** How a distance is drawn. */
export const TINY = 0;
export const SPREAD = 1;
export const EDGE = 2;
export const SAME = 3;
const TIMEOUT = 4;

const TABLE = 4096;

/** How a wheel is used for some hundred moves: how full, how far ahead, by what share of which moves. */
export class Phase {
  /** Moves that it lasts. */
  readonly length: number;
  /** Live timers to have, more or less. */
  readonly target: number;
  /** Distances are below 2^reach ticks. */
  readonly reach: number;
  /** Ticks from now to a deadline, where all timers have the same timeout. */
  readonly timeout: number;
  /** Of 1024 handlers, how many act; of those that act, how many end by clearing the wheel or by an error. */
  readonly acting: number;
  readonly throwing: number;
  /** Of 1024 advances, how many have a limit, and how many a handler of their own. */
  readonly limited: number;
  readonly fresh: number;
  /** Of 1024 deadlines, how many are not the time of a tick, and how many lie in the past. */
  readonly between: number;
  readonly past: number;
  /** Of 1024 values, how many are anything but small integers. */
  readonly odd: number;
  private readonly moves: Uint8Array;
  private readonly distances: Uint8Array;

  constructor(draws: WorldDraws, room: number, bits: number) {
    this.length = 1 << (4 + draws.below(9));
    this.target = Math.min(room - 2, Math.floor(2 ** (draws.share() * Math.log2(room))));
    this.reach = 1 + draws.below(Math.min(bits + 3, 50));
    this.timeout = Math.floor(2 ** (draws.share() * this.reach));
    this.acting = draws.pick([0, 0, 64, 300, 1024]);
    this.throwing = draws.pick([0, 30, 300]);
    this.limited = draws.pick([0, 100, 900]);
    this.fresh = draws.pick([0, 100, 1024]);
    this.between = draws.pick([0, 0, 200, 1024]);
    this.past = draws.pick([0, 20, 300]);
    this.odd = draws.pick([0, 30, 1024]);
    this.moves = tableOf([
      [SCHEDULE, draws.pick([40, 100, 200])],
      [CANCEL, draws.pick([0, 40, 100])],
      [RESCHEDULE, draws.pick([0, 40, 200])],
      [ADVANCE, draws.pick([1, 10, 40, 200])],
      [LOOK_UP, draws.pick([1, 20])],
      [NEXT, draws.pick([0, 1, 40])],
      [BOUND, draws.pick([0, 0, 4])],
      [STALE, draws.pick([1, 10])],
      [REFUSED, draws.pick([0, 0, 1])],
      [CLEAR, draws.pick([0, 0, 0.1, 1])],
      [INSPECT, draws.pick(bits < 12 && room < 100 ? [0, 1] : [0, 0, 0, 0, 0.01])],
      [COMPACT, draws.pick([0, 0.2])],
      [BEST_FIT, draws.pick([0, 5])],
      [JUMP, draws.pick([0, 0, 0.3])],
    ]);
    this.distances = tableOf([
      [TINY, draws.pick([0, 10, 100])],
      [SPREAD, draws.pick([1, 30, 100])],
      [EDGE, draws.pick([0, 10, 100])],
      [SAME, draws.pick([0, 10, 100])],
      [TIMEOUT, draws.pick([0, 30, 100])],
    ]);
  }

  move(draws: WorldDraws): number {
    return this.moves[draws.below(TABLE)];
  }

  distance(draws: WorldDraws): number {
    return this.distances[draws.below(TABLE)];
  }
}

/** Each number as often as its weight says; every weight above nought counts at least once. */
function tableOf(weights: readonly (readonly [number, number])[]): Uint8Array {
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  const table = new Uint8Array(TABLE).fill(weights[0][0]);
  let at = 0;
  for (const [number, weight] of weights) {
    const share = weight === 0 ? 0 : Math.max(1, Math.floor((weight / total) * TABLE));
    table.fill(number, at, at + share);
    at += share;
  }
  return table;
}
