import { Duel } from './duel.ts';
import { likeTimes, noDeadlines, noIds, oddValues } from './odd-values.ts';
import * as phases from './phase.ts';
import { precisionOf, type World } from './world.ts';
import type { WorldDraws } from './world-draws.ts';

/** Moves that the handlers of one advance make at most: each may set what fires in it. */
const ACTIONS = 200;
/** Moves of a handler. */
const ACTS = [1, 1, 1, 2, 3, 8];
/** At the end of time, everything is refused, and errors take their time: refusals that a world may begin with. */
const REFUSALS = 30;
const ONE_ULP = 2 ** -52;
/** The last tick that a clock reaches. */
const LAST_TICK = 2 ** 53 - 2;

/** Plays a world: draws move after move, and has the duel make them. */
export class Player {
  readonly duel: Duel;
  private readonly world: World;
  private readonly draws: WorldDraws;
  private readonly precision: number;
  private phase: phases.Phase;
  private phaseEnd = 0;
  private actions = 0;
  private lastDeadline: number;
  private lastTo: number;

  constructor(world: World) {
    this.world = world;
    this.draws = world.draws;
    this.precision = precisionOf(world.config);
    this.duel = new Duel(world, world.remembersIds);
    this.duel.onFired = () => this.react();
    this.phase = new phases.Phase(this.draws, world.room, world.bits);
    this.lastDeadline = this.lastTo = world.start;
  }

  /** Throws a Violation, or what the wheel throws without a reason. */
  play(): void {
    const { draws, duel, world } = this;
    if (world.isAtEnd) this.advanceTo(duel.model.time.startOf(LAST_TICK - draws.below(2 ** world.bits)));
    else if (draws.chance(512)) this.jump();
    const isOver = () => !world.isAtEnd && duel.refusals > REFUSALS + duel.operations / 64;
    while (duel.operations < world.moves && !isOver()) {
      if (duel.operations >= this.phaseEnd) {
        this.phase = new phases.Phase(draws, world.room, world.bits);
        this.phaseEnd = duel.operations + this.phase.length;
      }
      this.move(this.moveFor(this.phase.move(draws)));
    }
    duel.inspect();
  }

  /** Keeps the number of timers near the phase's. */
  private moveFor(move: number): number {
    const { size, room } = this.duel.model;
    const { target } = this.phase;
    if (move === phases.SCHEDULE && (size > target + (target >> 2) || room < 2)) return phases.CANCEL;
    if ((move === phases.CANCEL || move === phases.RESCHEDULE) && size < target >> 1) return phases.SCHEDULE;
    return move;
  }

  private move(move: number): void {
    const { draws, duel } = this;
    const { size } = duel.model;
    switch (move) {
      case phases.SCHEDULE:
        if (duel.model.room > 0) duel.schedule(this.deadline(), this.value());
        return;
      case phases.CANCEL:
        if (size > 0) duel.cancel(this.rank());
        return;
      case phases.RESCHEDULE:
        if (size > 0) duel.reschedule(this.rank(), this.deadline());
        return;
      case phases.ADVANCE:
        this.advance();
        return;
      case phases.LOOK_UP:
        if (size > 0) duel.lookUp(this.rank());
        return;
      case phases.NEXT:
        duel.compareNext();
        return;
      case phases.BOUND:
        duel.compareBound();
        return;
      case phases.STALE:
        duel.tryStale(this.staleId(), this.deadline());
        return;
      case phases.REFUSED:
        this.tryRefused();
        return;
      case phases.CLEAR:
        duel.clear();
        return;
      case phases.INSPECT:
        duel.inspect();
        return;
      case phases.COMPACT:
        duel.compact();
        return;
      case phases.BEST_FIT:
        if (duel.model.room > 0)
          duel.scheduleBestFit(this.deadline() + draws.pick([0, this.precision * 2 ** 50]), this.value());
        return;
      default:
        this.jump();
    }
  }

  /** In a handler. */
  private react(): void {
    const { draws, duel, phase } = this;
    if (!draws.chance(phase.acting) || this.actions <= 0) return;
    const disturbsAfter = draws.chance(phase.throwing) ? draws.pick(ACTS) : 0;
    for (let left = draws.pick(ACTS); left > 0; left--) {
      if (left === disturbsAfter) this.disturb();
      this.actions--;
      const { model } = duel;
      const pick = draws.below(1024);
      if (pick < 400) {
        if (model.room > 1) duel.schedule(this.deadline(), this.value());
      } else if (pick < 650) {
        if (model.size > 0) duel.cancel(this.rankSoonDue());
      } else if (pick < 900) {
        if (model.size > 0) duel.reschedule(this.rankSoonDue(), draws.chance(512) ? model.now : this.deadline());
      } else if (pick < 960) {
        duel.tryStale(this.staleId(), model.now);
      } else if (pick < 1000) {
        duel.compareNext();
      } else {
        duel.compareBound();
      }
    }
  }

  private disturb(): void {
    const { draws, duel } = this;
    const pick = draws.below(5);
    if (pick < 2) duel.clear();
    else if (pick === 2) duel.tryNested();
    else duel.throw();
  }

  private advance(): void {
    const { draws, duel, phase } = this;
    const { model } = duel;
    const to = Math.min(this.destination(), model.time.startOf(LAST_TICK));
    const limit = draws.chance(phase.limited) ? this.limit() : undefined;
    this.advanceTo(to, limit);
    // The same again goes on where it stopped, as often as not.
    for (let left = draws.below(4); limit !== undefined && left > 0; left--) this.advanceTo(to, limit);
    this.lastTo = to;
  }

  private advanceTo(to: number, limit?: number): void {
    this.actions = ACTIONS;
    this.duel.advance(to, limit, this.draws.chance(this.phase.fresh));
  }

  private limit(): number {
    const { draws } = this;
    return draws.pick([0, 0, 1, 1, 2, 3, 5, 1 + draws.below(50), Number.POSITIVE_INFINITY]);
  }

  private destination(): number {
    const { draws, precision } = this;
    const { model } = this.duel;
    const { now } = model;
    const next = model.nextExpiration;
    const pick = draws.below(16);
    if (pick < 5 && next !== undefined) return now + (next - now) * draws.share() * 0.9;
    if (pick < 7 && next !== undefined) return next;
    if (pick < 8 && next !== undefined) return next + (draws.below(5) - 2) * precision;
    if (pick < 11) return now + draws.below(4) * precision;
    if (pick < 12) return now + draws.share() * 2 * precision;
    if (pick < 13)
      return draws.pick([now, now - precision / 2, now - precision, this.world.start, this.lastTo, -1e300]);
    const distance = this.distance();
    return model.time.startOf(model.tick + (Number.isNaN(distance) ? 1 : distance));
  }

  /** Goes close to where levels wrap, or to the end, and lets some time pass there. */
  private jump(): void {
    const { draws, duel } = this;
    const { model } = duel;
    const tick = 2 ** (1 + draws.below(53)) * (draws.chance(768) ? 1 : 1 + draws.below(3)) - draws.below(300);
    if (tick > model.tick) this.advanceTo(model.time.startOf(Math.min(tick, LAST_TICK)));
  }

  /** Ticks from now. */
  private distance(): number {
    const { draws, phase } = this;
    const { tick } = this.duel.model;
    switch (phase.distance(draws)) {
      case phases.TINY:
        return draws.below(5);
      case phases.SPREAD:
        return Math.floor(2 ** draws.below(phase.reach + 1) * (1 + draws.share()));
      case phases.EDGE: {
        const width = 2 ** draws.below(phase.reach + 1);
        const edge = (Math.floor(tick / width) + 1 + draws.below(3)) * width;
        return Math.max(0, edge - tick + draws.below(3) - 1);
      }
      case phases.SAME:
        return Number.NaN;
      default:
        return phase.timeout;
    }
  }

  /** Mostly one that is taken: errors take their time. */
  private deadline(): number {
    const { draws, precision } = this;
    const { model } = this.duel;
    const deadline = this.anyDeadline();
    if (model.refusalOf(deadline) === undefined || draws.chance(this.world.isAtEnd ? 300 : 8)) return deadline;
    return model.now + precision * draws.below(Math.min(2 ** this.world.bits, 100));
  }

  private anyDeadline(): number {
    const { draws, duel, phase, precision } = this;
    const { model } = duel;
    if (draws.chance(phase.past))
      return draws.pick([model.now, model.now - precision * draws.below(4), -precision, -1e300]);
    const distance = this.distance();
    // The deadline drawn last, time and again: timers of one tick are what has an order.
    if (Number.isNaN(distance)) return this.lastDeadline > model.now ? this.lastDeadline : model.now + precision;
    let deadline = model.time.startOf(model.tick + distance);
    if (draws.chance(phase.between)) {
      const shift = draws.below(4);
      if (shift === 0) deadline -= draws.share() * precision;
      else if (shift === 1) deadline -= precision / 2;
      else deadline += Math.abs(deadline) * (shift === 2 ? ONE_ULP : -ONE_ULP);
    }
    this.lastDeadline = deadline;
    return deadline;
  }

  private rank(): number {
    return this.draws.chance(700) ? this.draws.below(this.duel.model.size) : this.rankSoonDue();
  }

  /** One of the next to fire. */
  private rankSoonDue(): number {
    const { size } = this.duel.model;
    return size - 1 - this.draws.below(Math.min(size, 6));
  }

  private value(): unknown {
    const { draws, phase } = this;
    if (!draws.chance(phase.odd)) return draws.below(1000);
    return draws.chance(512) ? draws.pick(oddValues) : { drawn: draws.word() };
  }

  private staleId(): number {
    const { draws, duel } = this;
    const { model } = duel;
    if (draws.chance(900)) return duel.ended[draws.below(64)];
    if (draws.chance(512) || model.size === 0) return draws.pick(noIds) as number;
    const id = model.ids[model.order[this.rank()]];
    // A greater one has no room for a half, and its neighbour may be alive.
    return id < 2 ** 51 ? draws.pick([-id, id + 0.5, id + 2 ** 52]) : -id;
  }

  private tryRefused(): void {
    const { draws, duel } = this;
    const { model } = duel;
    const bad = draws.pick(noDeadlines) as number;
    const far = Math.max(model.upperBound, model.time.end);
    const pick = draws.below(4);
    // What compares with numbers as a time does must not pass for one.
    if (pick === 0)
      duel.advance(
        (draws.chance(512) ? bad : draws.pick(likeTimes(model.now + draws.below(2) * this.precision))) as number,
      );
    else if (pick === 1) duel.advance(far);
    else if (pick === 2 && model.size > 0) duel.reschedule(this.rank(), draws.chance(512) ? bad : model.upperBound);
    else if (model.room > 0) duel.schedule(draws.chance(512) ? bad : model.upperBound, 0);
  }
}
