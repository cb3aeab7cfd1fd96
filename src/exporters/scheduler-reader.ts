import type { Coordinator, HostedLanes } from '../scheduler/coordinator.ts';
import { statsWith } from '../scheduler/stats.ts';
import type { ShardCounters } from '../shard/shard.ts';
import { clearTimeout, setTimeout } from '../time/native-timers.ts';
import type { Reading } from './scheduler-metrics.ts';

type Counters = ShardCounters[] | undefined;

/**
 * Reads a scheduler for an exporter. If a shard does not answer in time, it reports what is known without the shard, and asks it
 * again after it has answered.
 */
export class SchedulerReader {
  private readonly coordinator: Coordinator;
  private readonly timeout: number;
  /** Questions without an answer. */
  private readonly asked = new Map<HostedLanes, Promise<Counters>>();

  /** `timeout` in ms. */
  constructor(coordinator: Coordinator, timeout: number) {
    this.coordinator = coordinator;
    this.timeout = timeout;
  }

  /** Never rejects. After close() it returns the client's counts. */
  async read(): Promise<Reading> {
    const shards = await this.shards();
    return { ...statsWith(this.coordinator, []), shards };
  }

  private async shards(): Promise<Reading['shards']> {
    const { coordinator } = this;
    if (coordinator.client.isClosed) return [];
    coordinator.publishAll();
    const hosted = [...coordinator.hosted];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.timeout);
    });
    const answers = await Promise.all(hosted.map((host) => Promise.race([this.ask(host), late])));
    clearTimeout(timer);
    if (coordinator.client.isClosed) return [];
    return hosted.flatMap((host, at) =>
      coordinator.knownOf(host).map((known, lane) => ({ ...known, ...answers[at]?.[lane] })),
    );
  }

  /** The counts of a host for each shard; undefined if it does not answer. */
  private ask(hosted: HostedLanes): Promise<Counters> {
    const asked = this.asked.get(hosted);
    if (asked !== undefined) return asked;
    const answer = hosted.host
      .call('stats')
      .catch(() => undefined) // the host was stopped, or there is no memory for the question
      .finally(() => this.asked.delete(hosted));
    this.asked.set(hosted, answer);
    return answer;
  }
}
