import type { CommandStage } from '../lane/command-stage.ts';
import { type RingConsumer, ringOf } from '../lane/ring.ts';
import type { TimerTable } from '../lane/timer-table.ts';
import type { ClientTime } from './client-time.ts';
import type { Commands } from './commands.ts';

// Taken once: a program may replace them.
const { trunc } = Math;

/** The parts of a lane that it needs. */
interface LateLane {
  readonly table: TimerTable;
  readonly commands: Commands;
  readonly stage: CommandStage;
  /** The far end of the fired ring. */
  readonly ring: RingConsumer;
  /** Where deliveries take their records. */
  fired: RingConsumer;
  requestAnswer(): number;
  hasAnswered(request: number): boolean;
  releaseFired(): void;
}

/**
 * Keeps the order of a lane whose commands were published when they were due. A thread hears of a timer shortly before
 * that is due. If the loop stands still just then, the thread fires what is due later and was published before.
 *
 *     published late ─▶ ask the shard ─▶ take what it fires, so that it has room ─▶ it has answered: whatever was due
 *     is here ─▶ sort by due tick ─▶ deliver that, by a ring of this thread's own ─▶ deliver from the lane's ring again
 *
 * A late command wakes the thread and then the client in any case, so this takes no wake of its own.
 */
export class LateCommands {
  /**
   * What is waited for. 'asked again': others were late before the answer came. 'delivering': the answer has come, and
   * what was sorted is delivered.
   */
  state: 'nothing' | 'asked' | 'asked again' | 'delivering' = 'nothing';
  /** Whose answer is waited for. */
  private request = 0;
  /** How many commands have to have been sent for the answer to cover those that were late. */
  private covered = 0;
  /** Whether the ring was full, and the request came before some of them. */
  private isPartial = false;
  /** Whether yet others have been late since: they have a wait of their own, as delivery must go on. */
  private isAgain = false;
  /** Slot and tag of each record that was taken meanwhile. */
  private taken: number[] = [];
  private readonly lane: LateLane;
  private readonly time: ClientTime;

  constructor(lane: LateLane, time: ClientTime) {
    this.lane = lane;
    this.time = time;
  }

  /** Called when late commands have been published. */
  published(): void {
    if (this.state === 'nothing') this.askForAll('asked');
    else if (this.state === 'asked') this.askForAll('asked again');
    else this.isAgain = true;
  }

  /** Whether an answer is waited for: whoever gives it rings. */
  get isWaiting(): boolean {
    return this.state === 'asked' || this.state === 'asked again';
  }

  /**
   * How many of the lane's next records are in order. Called in each turn before they are read, unless nothing is late.
   */
  available(): number {
    const { lane } = this;
    if (this.isWaiting) this.look();
    if (this.isWaiting) return 0;
    const isDelivered = lane.fired === lane.ring || lane.fired.available() === 0;
    if (isDelivered && this.taken.length > 0) this.refill();
    else if (isDelivered) this.end();
    const isHeldUp = this.isWaiting || (lane.fired === lane.ring && this.taken.length > 0);
    return isHeldUp ? 0 : lane.fired.available();
  }

  /** The slots of the live timers whose records have not been delivered, late or not. */
  *firedSlots(): Generator<number> {
    const { lane, taken } = this;
    for (let at = 0; at < taken.length; at += 2) {
      if (lane.table.tagOf(taken[at]) === taken[at + 1]) yield taken[at];
    }
    for (const from of new Set([lane.fired, lane.ring])) {
      const count = from.available();
      for (let at = 0; at < count; at++) {
        const cell = from.peek(at);
        const slot = from.cells[cell];
        if (lane.table.tagOf(slot) === from.cells[cell + 1]) yield slot;
      }
    }
  }

  /** Looks for the answer, and takes what has been fired until then. */
  private look(): void {
    const { lane } = this;
    // Before the records that it covers are taken. A shard that is here by now has had its turn.
    const isAnswered = lane.stage.isServedHere || lane.hasAnswered(this.request);
    this.takeAll();
    if (!isAnswered) return;
    if (this.isPartial && !lane.stage.isServedHere) {
      this.ask();
      return;
    }
    this.state = 'delivering';
    this.sort();
  }

  private askForAll(state: 'asked' | 'asked again'): void {
    this.state = state;
    this.covered = this.lane.commands.sent + this.lane.commands.waiting;
    this.ask();
  }

  /** All that was brought in order has been delivered. */
  private end(): void {
    const { lane } = this;
    lane.fired = lane.ring;
    this.state = 'nothing';
    const { isAgain } = this;
    this.isAgain = false;
    if (!isAgain || lane.stage.isServedHere) return;
    this.askForAll('asked');
    this.takeAll(); // nobody rings once more for what is there already, and a full ring waits for room
  }

  private ask(): void {
    const { commands } = this.lane;
    this.isPartial = commands.wantsRoom && commands.sent < this.covered;
    this.request = this.lane.requestAnswer();
  }

  /** Takes all records that are there: first those that had been brought in order. */
  private takeAll(): void {
    const { lane, taken } = this;
    for (const from of new Set([lane.fired, lane.ring])) {
      for (let left = from.available(); left > 0; left--) {
        const at = from.take();
        taken.push(from.cells[at], from.cells[at + 1]);
      }
    }
    lane.fired = lane.ring;
    lane.releaseFired();
  }

  /** By due tick; those of one tick as they were fired. */
  private sort(): void {
    const { table } = this.lane;
    const { taken, time } = this;
    const dues: number[] = [];
    for (let at = 0; at < taken.length; at += 2) {
      const slot = taken[at];
      const isLive = table.tagOf(slot) === taken[at + 1];
      dues.push(isLive ? time.dueTickOfRecord(table.deadlineOf(slot), table.dueOf(slot)) : -1); // whatever its place
    }
    if (dues.every((due, at) => at === 0 || due >= dues[at - 1])) return;
    const order = [...dues.keys()].sort((one, other) => dues[one] - dues[other]);
    this.taken = order.flatMap((at) => [taken[2 * at], taken[2 * at + 1]]);
  }

  /** Puts the next records into a ring of this thread's own: as many as there is memory for. */
  private refill(): void {
    this.lane.fired = this.lane.ring;
    for (let records = this.taken.length / 2; records >= 1; records = trunc(records / 2)) {
      try {
        this.lane.fired = ringOf(this.taken.slice(0, 2 * records));
        this.taken = this.taken.slice(2 * records);
        return;
      } catch {
        // no memory for so many
      }
    }
  }
}
