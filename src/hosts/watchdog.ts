import type { Doorbell } from '../lane/doorbell.ts';
import type { Heartbeat } from '../lane/heartbeat.ts';
import { clockOrigin, MonotonicClock } from '../time/monotonic-clock.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';

/** Number of checks within the limit. All of them must find the shard silent, so one late check proves nothing. */
const CHECKS = 4;
/** Factor of the limit while a thread starts and loads its code. */
const START_FACTOR = 4;
/** ms more for each slot in use: in one turn all of them may cascade, or be read from the table. */
const PER_SLOT = 0.001;
/** After an alarm the limit grows by this factor, up to some ms, … */
const GROWTH = 4;
const MAX_GROWN = 10_000;
/** … until this many ms pass without an alarm. */
const CALM = 600_000;

const monotonic = new MonotonicClock(clockOrigin());

/**
 * Detects that a shard's thread hangs. A shard that is not parked takes turns, and beats in each of them. One that is
 * parked has no turn due until it is rung or its tick has come. Four times within the limit the watchdog checks whether a turn
 * was due and none was taken. If all checks within the limit find this, without a beat between them, the shard hangs.
 *
 *     limit = hangTimeout × 4 ^ (alarms of late), grown to 10 s at most, × (4 while it starts) + 1 µs × slots in use
 *
 * A thread that gets no processor looks like one that hangs, and nothing here can distinguish them. So a limit that was
 * too short for a machine grows. (Failure detectors that grow their timeout when they were wrong: Chandra and
 * Toueg, 1996.)
 *
 * A shard that sleeps too long is rung at the first check, and so need not be replaced.
 *
 * It counts its own checks, not time: if the client's loop was blocked, or the machine slept, several checks become
 * one, and a shard that slept as well beats before the next. Its timer does not hold the process.
 */
export class Watchdog {
  private readonly heartbeat: Heartbeat;
  private readonly doorbell: Doorbell;
  private readonly tick: () => number;
  private readonly slots: () => number;
  private readonly limit: number;
  private readonly hung: (silence: number) => void;
  private timer: NodeJS.Timeout | undefined;
  private isStarting = false;
  private silentChecks = 0;
  private beats = 0;
  private alarms = 0;
  private lastAlarm = Number.NEGATIVE_INFINITY;

  /**
   * `tick`: the present tick; `slots`: the number in use; `limit`: in ms, Infinity for no watch; `hung` gets the ms of silence.
   */
  constructor(parts: {
    heartbeat: Heartbeat;
    doorbell: Doorbell;
    tick: () => number;
    slots: () => number;
    limit: number;
    hung: (silence: number) => void;
  }) {
    this.heartbeat = parts.heartbeat;
    this.doorbell = parts.doorbell;
    this.tick = parts.tick;
    this.slots = parts.slots;
    this.limit = parts.limit;
    this.hung = parts.hung;
  }

  /** Watches a thread that starts: it has to be up in time. */
  watchStart(): void {
    this.isStarting = true;
    this.silentChecks = 0;
    if (this.timer !== undefined || this.limit === Number.POSITIVE_INFINITY) return;
    this.timer = setInterval(this.check, this.limit / CHECKS);
    this.timer.unref();
  }

  /** Watches a thread that is up: it has to take its turns. */
  watchTurns(): void {
    this.isStarting = false;
    this.noteBeats(this.heartbeat.beats());
  }

  rest(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private readonly check = (): void => {
    const beats = this.heartbeat.beats();
    if (this.isStarting || (beats === this.beats && this.doorbell.isTurnDue(this.heartbeat.ringsSeen(), this.tick()))) {
      this.silentChecks += 1;
      // Asleep past its tick, the shard may only have slept longer than intended.
      this.doorbell.ring();
    } else {
      this.noteBeats(beats);
    }
    if (this.silentChecks < this.maxSilentChecks()) return;
    const now = monotonic.now();
    this.alarms = now - this.lastAlarm < CALM ? this.alarms + 1 : 1;
    this.lastAlarm = now;
    this.rest();
    this.hung((this.silentChecks * this.limit) / CHECKS);
  };

  private maxSilentChecks(): number {
    const alarms = monotonic.now() - this.lastAlarm < CALM ? this.alarms : 0;
    const limit = Math.max(this.limit, Math.min(this.limit * GROWTH ** alarms, MAX_GROWN));
    const total = limit * (this.isStarting ? START_FACTOR : 1) + this.slots() * PER_SLOT;
    return Math.floor((total * CHECKS) / this.limit);
  }

  private noteBeats(beats: number): void {
    this.silentChecks = 0;
    this.beats = beats;
  }
}
