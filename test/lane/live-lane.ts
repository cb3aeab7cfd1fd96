import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ClientLane } from '../../src/client/client-lane.ts';
import { ClientTime } from '../../src/client/client-time.ts';
import type { Delivery } from '../../src/client/delivery.ts';
import { allocateDoorbell, ClientBell, Doorbell } from '../../src/lane/doorbell.ts';
import { WORD_REACH, wordOf } from '../../src/lane/due-word.ts';
import { allocateLane, type RingSizes } from '../../src/lane/lane-memory.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { timerIdLayout } from '../../src/timer-id.ts';
import type { ServingSetup } from '../shard/build-serving.ts';
import { deliveryOf } from './delivery-of.ts';
import { scheduleOn } from './schedule-on.ts';

const MAX_BATCH = 1024;
const SCRIPT = new URL('./threads/shard.mjs', import.meta.url);

/**
 * A lane whose client is this thread, turned by hand, and whose shard is a thread of its own, on rings as small as one
 * likes. A turn is taken only when somebody asks for it: news from the shard arrives as `onNews`.
 */
export class LiveLane {
  readonly lane: ClientLane;
  readonly clock: SharedClock;
  readonly delivery: Delivery;
  onNews: () => void = () => undefined;
  private readonly setup: ServingSetup;
  private readonly time: ClientTime;
  private readonly bell: ClientBell;
  private worker: Worker | undefined;

  constructor(capacity: number, rings: RingSizes, tick: number) {
    const clockMemory = SharedClock.allocate(false);
    const clientBell = ClientBell.allocate();
    this.setup = {
      number: 0,
      tick,
      wheel: { engine: 'cascading', precision: 1, levelBits: [8, 8, 8, 8] },
      clock: clockMemory,
      doorbell: allocateDoorbell(),
      lanes: [{ memory: allocateLane(capacity, rings), clientBell }],
    };
    this.clock = new SharedClock(clockMemory);
    this.time = new ClientTime(this.clock, new TickScale(tick));
    this.bell = new ClientBell(clientBell);
    const doorbell = new Doorbell(this.setup.doorbell);
    this.lane = new ClientLane({
      memory: this.setup.lanes[0].memory,
      layout: timerIdLayout(1, capacity),
      shard: 0,
      doorbell,
      time: this.time,
    });
    this.delivery = deliveryOf(this.lane, this.time, MAX_BATCH);
    this.bell.listen(() => this.onNews());
  }

  start(rebuild: boolean): void {
    this.worker = new Worker(SCRIPT, { workerData: { setup: this.setup, rebuild } });
    this.worker.once('error', (error) => {
      throw error;
    });
  }

  /** Ends the thread, wherever it is. */
  async kill(): Promise<void> {
    const { worker } = this;
    if (worker === undefined) return;
    this.worker = undefined;
    const exit = once(worker, 'exit');
    await worker.terminate();
    await exit;
  }

  async replace(): Promise<void> {
    await this.kill();
    this.start(true);
    this.onNews();
  }

  /** The slot, or -1 when the table is full. */
  schedule(deadline: number, callback: (argument: unknown, id: number) => void, argument: unknown): number {
    return scheduleOn(this.lane, deadline, wordOf(this.time.dueTickOf(deadline, 0)), callback, argument);
  }

  move(slot: number, deadline: number): void {
    const tick = this.time.dueTickOf(deadline, 0);
    this.lane.move(slot, deadline, wordOf(tick), tick - this.time.tick <= WORD_REACH);
  }

  /** Delivers one batch and publishes; returns whether there are more. */
  turn(): boolean {
    this.time.beginTurn();
    this.bell.lower(); // before the lane is read
    const isMore = this.delivery.deliver(Number.NEGATIVE_INFINITY);
    this.lane.commands.publish();
    return isMore;
  }
}
