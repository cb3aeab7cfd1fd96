import type { Scheduler, TimerGroup, TimerLabel, UnfiredTimer } from 'shardwheel';
import { ContractDropIns } from './contract-drop-ins.ts';
import { ContractModel, type ModelLabel, type ModelTimer } from './contract-model.ts';
import type { Program } from './contract-operations.ts';
import { ContractWaits } from './contract-waits.ts';

const GROUPS = 4;

/**
 * What a program runs in: a scheduler, and the model of it. Times count in quarters of a tick, so that all sums are
 * exact.
 */
export class ContractWorld {
  readonly faults: string[] = [];
  readonly scheduler: Scheduler;
  readonly model: ContractModel;
  readonly waits: ContractWaits;
  readonly dropIns: ContractDropIns;
  /** ms: a quarter of a tick. */
  readonly unit: number;
  readonly capacity: number;
  /** Each with the calls that start its timers; that of none is the last. */
  readonly labels: readonly (readonly [ModelLabel, TimerLabel | Scheduler])[];
  readonly groups: readonly TimerGroup[];
  /** All that have ever been started. */
  readonly timers: ModelTimer[] = [];
  isRef = true;
  /** Whether a timer that begins now may repeat: not while the clock goes far, where it would make very many calls. */
  mayRepeat = true;
  /** Set by a close. */
  closing: Promise<UnfiredTimer[]> | undefined;
  /** What it must hand back. */
  unfired: { readonly id: number }[] = [];

  constructor(scheduler: Scheduler, { options, dropIn }: Program, capacity: number) {
    const { tick, slack } = options;
    this.scheduler = scheduler;
    this.model = new ContractModel(tick);
    this.waits = new ContractWaits(scheduler, this.faults);
    this.dropIns = new ContractDropIns(this, tick, slack, capacity, dropIn);
    this.unit = tick / 4;
    this.capacity = capacity;
    const settings = [
      { slack: 0 },
      { slack: 0, ref: false },
      { slack: 5 * tick },
      { slack: 0, min: 10 * tick },
      { slack: 4 * tick, min: 3 * tick },
    ];
    const labelled = (name: string | undefined, setting: (typeof settings)[number]): ModelLabel => {
      const counts = { factor: 1, scheduled: 0, cancelled: 0, delivered: 0 };
      return { name, min: undefined, ref: true, ...setting, ...counts };
    };
    this.labels = [
      ...settings.map((setting, i) => {
        const name = `label ${i}`;
        return [labelled(name, setting), scheduler.label(name, setting)] as const;
      }),
      [labelled(undefined, { slack }), scheduler],
    ];
    this.groups = Array.from({ length: GROUPS }, (_, i) => scheduler.group(i));
  }

  expectSame(what: string, given: unknown, wanted: unknown): void {
    if (Object.is(given, wanted)) return;
    const [one, other] = [given, wanted].map((value) => JSON.stringify(value));
    if (one !== other) this.faults.push(`${what}: ${one} instead of ${other}`);
  }

  get isJump(): boolean {
    return this.model.isJump;
  }

  /** Something is delivered at a time. */
  come(now: number): void {
    const { dropIns, faults, isJump, model, unit } = this;
    const fault = model.come(now);
    if (fault !== undefined) faults.push(fault);
    const next = dropIns.model.nextDue * 4 * unit;
    if (!isJump && next < now) faults.push(`a drop-in timer is passed at ${now}: it is due at ${next}`);
  }

  /**
   * One of all timers, or of the live ones; undefined also for one of which the model does not know within this tick
   * what it has done.
   */
  pick(at: number): ModelTimer | undefined {
    const { model, timers } = this;
    const from = at % 2 === 0 ? [...model.live.values()] : timers;
    const timer = from.length === 0 ? undefined : from[(at >> 1) % from.length];
    return timer !== undefined && model.isOpen(timer) ? undefined : timer;
  }

  /** A call ends a timer, of which whoever waits is told. Returns whether it is live. */
  end(timer: ModelTimer | undefined, told: string | undefined): boolean {
    const isLive = this.model.cancel(timer);
    if (isLive && timer !== undefined) this.waits.end(timer, told);
    return isLive;
  }

  close(): void {
    const live = [...this.model.live.values()];
    if (live.some((timer) => this.model.isOpen(timer))) return;
    this.unfired = live.map((timer) => {
      const { id, deadline, kind, label, period } = timer;
      const isSettled = kind === 'sleep' || kind === 'withTimeout';
      this.waits.end(timer, isSettled ? 'ERR_SCHEDULER_CLOSED' : undefined);
      return { id, deadline, label: label.name, period, isSettled };
    });
    this.dropIns.close();
    this.closing = this.scheduler.close();
  }
}
