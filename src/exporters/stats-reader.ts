import type { Coordinator, HostedShards } from '../scheduler/coordinator.ts';
import { statsWith } from '../scheduler/stats.ts';
import type { ShardCounters } from '../shard/shard.ts';
import { clearTimeout, setTimeout } from '../time/native-timers.ts';
import { type Metric, type Reading, type Sample, samplesOf } from './metric-table.ts';

type Counters = ShardCounters[] | undefined;

/**
 * Reads a scheduler for an exporter: once for all metrics that are asked for in one synchronous step, and not at all while
 * nobody asks. Of a shard that has not answered in time it says what is known without it, and asks it again once it has answered.
 */
export class StatsReader {
  private readonly coordinator: Coordinator;
  private readonly timeout: number;
  /** Questions without an answer. */
  private readonly asked = new Map<HostedShards, Promise<Counters>>();
  private reading: Promise<ReadonlyMap<Metric, readonly Sample[]>> | undefined;

  /** `timeout`: ms. */
  constructor(coordinator: Coordinator, timeout: number) {
    this.coordinator = coordinator;
    this.timeout = timeout;
  }

  /** Never rejects. After close(): what the client has counted. */
  read(): Promise<ReadonlyMap<Metric, readonly Sample[]>> {
    this.reading ??= this.collect().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async collect(): Promise<ReadonlyMap<Metric, readonly Sample[]>> {
    const shards = await this.shards();
    return samplesOf({ ...statsWith(this.coordinator, []), shards });
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

  /** What a host has counted of each shard; undefined where it cannot say. */
  private ask(hosted: HostedShards): Promise<Counters> {
    const asked = this.asked.get(hosted);
    if (asked !== undefined) return asked;
    const answer = hosted.host
      .call('stats')
      .catch(() => undefined) // it has been stopped, or there is no memory for the question
      .finally(() => this.asked.delete(hosted));
    this.asked.set(hosted, answer);
    return answer;
  }
}
