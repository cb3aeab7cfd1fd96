import { Duel } from './duel.ts';
import type { Move } from './move.ts';
import type { World } from './world.ts';

/** Makes moves that were recorded, those of handlers when their timers fire. Returns what was thrown, or undefined. */
export function replayMoves(world: World, moves: readonly Move[]): unknown {
  const replay = new MoveReplay(world, moves);
  try {
    replay.run();
  } catch (error) {
    return error;
  }
  return undefined;
}

class MoveReplay {
  private readonly duel: Duel;
  private readonly outside: Move[] = [];
  private readonly inHandlers = new Map<number, Move[]>();

  constructor(world: World, moves: readonly Move[]) {
    this.duel = new Duel(world, world.remembersIds);
    for (const move of moves) {
      if (move.during === undefined) this.outside.push(move);
      else if (!this.inHandlers.has(move.during)) this.inHandlers.set(move.during, [move]);
      else this.inHandlers.get(move.during)?.push(move);
    }
    this.duel.onFired = (name) => {
      for (const move of this.inHandlers.get(name) ?? []) this.make(move);
    };
  }

  run(): void {
    for (const move of this.outside) this.make(move);
  }

  /** What names a timer that does not live is left out. */
  private make(move: Move): void {
    const { duel } = this;
    switch (move.do) {
      case 'schedule':
        duel.schedule(move.deadline as number, move.value, move.name);
        break;
      case 'best fit':
        duel.scheduleBestFit(move.deadline, move.value, move.name);
        break;
      case 'reschedule':
        this.withRank(move.name, (rank) => duel.reschedule(rank, move.deadline as number));
        break;
      case 'cancel':
        this.withRank(move.name, (rank) => duel.cancel(rank));
        break;
      case 'look up':
        this.withRank(move.name, (rank) => duel.lookUp(rank));
        break;
      case 'stale':
        this.tryStale(move.id, move.deadline);
        break;
      case 'advance':
        duel.advance(move.to as number, move.limit, move.isFresh);
        break;
      case 'clear':
        duel.clear();
        break;
      case 'next':
        duel.compareNext();
        break;
      case 'bound':
        duel.compareBound();
        break;
      case 'inspect':
        duel.inspect();
        break;
      case 'compact':
        duel.compact();
        break;
      case 'nested':
        if (duel.isFiring) duel.tryNested();
        break;
      case 'throw':
        if (duel.isFiring) duel.throw();
    }
  }

  private withRank(name: number, call: (rank: number) => void): void {
    const { names, order, size } = this.duel.model;
    const rank = order.subarray(0, size).findIndex((timer) => names[timer] === name);
    if (rank >= 0) call(rank);
  }

  /** With fewer moves before it, the id may be another timer's. */
  private tryStale(id: number, deadline: number): void {
    const { ids, order, size } = this.duel.model;
    if (!order.subarray(0, size).some((timer) => ids[timer] === id)) this.duel.tryStale(id, deadline);
  }
}
