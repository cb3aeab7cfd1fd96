import type { Doorbell } from '../lane/doorbell.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import { monotonic } from './restart-policy.ts';

/** Number of checks within the limit. All of them must find the shard silent, so one late check proves nothing. */
const CHECKS = 4;
/** Factor of the limit while a thread starts and loads its code. */
const START_FACTOR = 4;
/** ms more for each slot in use: in one turn all of them may cascade, or be read from the table. */
const SLOT_MS = 0.001;
/** After an alarm the limit grows by this factor, up to some ms, … */
const GROWTH = 4;
const MAX_GROWN = 10_000;
/** … until this many ms pass without an alarm. */
const CALM_MS = 600_000;

export interface WatchdogParts {
  readonly doorbell: Doorbell;
  /** The present tick. */
  readonly tick: () => number;
  /** The number of slots in use. */
  readonly slots: () => number;
  /** In ms; Infinity for no watch. */
  readonly limit: number;
  /** Gets the ms of silence. */
  readonly hung: (silence: number) => void;
}

/**
 * Detects that a shard's thread hangs. A shard that is not parked takes turns, and beats in each of them. One that is
 * parked has no turn due until it is rung or its tick has come. Four times within the limit the watchdog checks whether
 * a turn was due and none was taken. If all checks within the limit find this, without a beat between them, the shard
 * hangs.
 *
 *     limit = hangTimeout × 4 ^ (alarms of late), grown to 10 s at most, × (4 while it starts) + 1 µs × slots in use
 *
 * A thread that gets no processor looks like one that hangs, and nothing here can distinguish them. So a limit that was
 * too short for a machine grows. (Failure detectors that grow their timeout when they were wrong: Chandra and Toueg,
 * 1996.)
 *
 * A shard that sleeps too long is rung at the first check, and so need not be replaced.
 *
 * It counts its own checks, not time: if the client's loop was blocked, or the machine slept, several checks become
 * one, and a shard that slept as well beats before the next. Its timer does not hold the process.
 */
export class Watchdog {
  private readonly parts: WatchdogParts;
  private timer: NodeJS.Timeout | undefined;
  private isStarting = false;
  private silentChecks = 0;
  private beats = 0;
  private alarms = 0;
  private lastAlarm = Number.NEGATIVE_INFINITY;

  constructor(parts: WatchdogParts) {
    this.parts = parts;
  }

  /** Watches a thread that starts: it has to be up in time. */
  watchStart(): void {
    this.isStarting = true;
    this.silentChecks = 0;
    const { limit } = this.parts;
    if (this.timer !== undefined || limit === Number.POSITIVE_INFINITY) return;
    this.timer = setInterval(this.check, limit / CHECKS).unref();
  }

  /** Watches a thread that is up: it has to take its turns. */
  watchTurns(): void {
    this.isStarting = false;
    this.noteBeats(this.parts.doorbell.beats());
  }

  rest(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private readonly check = (): void => {
    const { doorbell, tick, limit, hung } = this.parts;
    const beats = doorbell.beats();
    if (this.isStarting || (beats === this.beats && doorbell.isTurnDue(tick()))) {
      this.silentChecks += 1;
      // Asleep past its tick, the shard may only have slept longer than intended.
      doorbell.ring();
    } else {
      this.noteBeats(beats);
    }
    if (this.silentChecks < this.maxSilentChecks()) return;
    const now = monotonic.now();
    this.alarms = now - this.lastAlarm < CALM_MS ? this.alarms + 1 : 1;
    this.lastAlarm = now;
    this.rest();
    hung((this.silentChecks * limit) / CHECKS);
  };

  private maxSilentChecks(): number {
    const { limit, slots } = this.parts;
    const alarms = monotonic.now() - this.lastAlarm < CALM_MS ? this.alarms : 0;
    const grown = Math.max(limit, Math.min(limit * GROWTH ** alarms, MAX_GROWN));
    const total = grown * (this.isStarting ? START_FACTOR : 1) + slots() * SLOT_MS;
    return Math.floor((total * CHECKS) / limit);
  }

  private noteBeats(beats: number): void {
    this.silentChecks = 0;
    this.beats = beats;
  }
}
