import type { Scheduler } from 'shardwheel';
import { ModelProxy } from '../../replay/model-proxy.ts';
import { StepClock } from '../../replay/step-clock.ts';
import { ShardwheelTimers } from '../../replay/subjects/shardwheel-timers.ts';
import { replayDefaults } from '../rates/replay-load.ts';
import type { PacedLoad } from './paced-run.ts';

/** ms: a timer that is so late when all is over counts as lost. */
const GRACE = 1000;

/**
 * The replay of `npm start` as a paced load. An operation is a connection that arrives; each slice is a millisecond of
 * its calendar.
 */
export class ReplaySteps implements PacedLoad {
  readonly #clock = new StepClock();
  readonly #proxy: ModelProxy;
  readonly #subject: ShardwheelTimers;

  /** `connections`: most that arrive in all. */
  constructor(scheduler: Scheduler, connections: number) {
    this.#proxy = new ModelProxy({ ...replayDefaults, cps: 0, seconds: 0, drain: 0 }, connections, this.#clock);
    this.#subject = new ShardwheelTimers(2 * connections, this.#proxy.onFire, scheduler);
    this.#proxy.use(this.#subject, false);
  }

  perform(connections: number): void {
    const proxy = this.#proxy;
    const { calendar } = proxy;
    for (let base = calendar.take(); base >= 0; base = calendar.take()) proxy.step(base);
    for (let i = 0; i < connections; i++) proxy.accept();
    calendar.cursor++;
  }

  async close(): Promise<void> {
    const { ledger } = this.#proxy;
    const expected = this.#clock.read() - GRACE;
    await this.#subject.close((timer) => ledger.handBack(timer, expected));
    const { early, lost, doubled, refused } = ledger.verdict();
    if (early + lost + doubled + refused > 0) {
      throw new Error(`the replay went wrong: ${JSON.stringify({ early, lost, doubled, refused })}`);
    }
  }
}
