import type { Coordinator } from '../assembly/coordinator.ts';
import type { LaneHost } from '../hosts/lane-host.ts';
import type { ServedCounters } from '../shard/lane-server.ts';
import type { ShardCounters } from '../shard/shard.ts';
import { clearTimeout, setTimeout } from '../time/native-timers.ts';
import { Untaken } from './untaken.ts';

/** What a client knows of a shard without asking it. */
interface KnownOfShard {
  shard: number;
  /** Live timers placed on this shard. */
  size: number;
  capacity: number;
  /** Slots of `capacity` that are no longer used because all their ids have been given. */
  retired: number;
  /** Slots that have ever been in use: the peak of live timers, and the retired slots. */
  highWater: number;
  /** How often a thread of this shard died, up or not yet up, or the shard failed inline. */
  deaths: number;
  /** How often a successor has taken over: less often than `deaths` if several died before one was up. */
  restarts: number;
  /** Whether the shard runs in the calling thread: see `serving`; and until its thread is up. */
  inline: boolean;
}

export interface ShardStats extends KnownOfShard, ShardCounters {
  /**
   * Whether the shard has answered in time: see {@link StatsOptions}. If not, what only the shard counts, from `turns`
   * to `reservedBytes`, is as it last told; 0 if it never has.
   */
  answered: boolean;
}

/** The answer of what serves a host's lanes, by lane; undefined if there is none. */
type Answer = readonly ServedCounters[] | undefined;

/** What shards have answered at one time, and what their clients have not taken. @internal */
export interface AnsweredShards {
  readonly shards: ShardStats[];
  readonly untaken: Untaken;
}

/** Of a shard that has never answered. */
const NOTHING_REPORTED: ShardCounters = {
  turns: 0,
  lanes: 0,
  commands: 0,
  fired: 0,
  refiled: 0,
  dropped: 0,
  cascaded: 0,
  filed: 0,
  bytes: 0,
  reservedBytes: 0,
};

/** Asks a scheduler's shards for their counts, and keeps what they have reported last. @internal */
export class ShardAnswers {
  private readonly coordinator: Coordinator;
  /** By lane. */
  private readonly reported = new Map<LaneHost, readonly ShardCounters[]>();
  /**
   * Questions that have outlasted their caller's patience: whoever serves these lanes is asked no more before it has
   * answered.
   */
  private readonly overdue = new Map<LaneHost, Promise<Answer>>();

  constructor(coordinator: Coordinator) {
    this.coordinator = coordinator;
  }

  /** Rejects if a shard does. Empty if the client is closed, or is closed meanwhile. */
  async all(): Promise<AnsweredShards> {
    const untaken = new Untaken(this.coordinator.number);
    const shards = await this.coordinator.collect('stats', (answer, host) => this.shardsOf(host, answer, untaken));
    return { shards, untaken };
  }

  /** Waits for at most `timeout` ms, and never rejects: a shard without an answer is as it was last known. */
  async within(timeout: number): Promise<AnsweredShards> {
    const { coordinator } = this;
    const { client } = coordinator;
    const untaken = new Untaken(coordinator.number);
    if (client.isClosed) return { shards: [], untaken };
    coordinator.publishAll();
    const hosts = [...coordinator.hosts];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), timeout);
    });
    const answers = await coordinator.during(Promise.all(hosts.map((host) => this.answerOf(host, late))));
    clearTimeout(timer);
    if (client.isClosed) return { shards: [], untaken };
    return { shards: hosts.flatMap((host, at) => this.shardsOf(host, answers[at], untaken)), untaken };
  }

  /** Undefined if it is late, or its host was stopped, or there is no memory for the question. */
  private async answerOf(host: LaneHost, late: Promise<undefined>): Promise<Answer> {
    const question = this.overdue.get(host) ?? host.call('stats').catch(() => undefined); // is no answer
    const answer = await Promise.race([question, late]);
    if (answer === undefined && !this.overdue.has(host)) {
      this.overdue.set(host, question);
      void question.then(() => this.overdue.delete(host));
    }
    return answer;
  }

  /** What the client knows is read now: a successor may have answered. */
  private shardsOf(host: LaneHost, answer: Answer, untaken: Untaken): ShardStats[] {
    const reported = answer?.map((counters) => untaken.note(counters)) ?? this.reported.get(host) ?? [];
    this.reported.set(host, reported);
    return knownOf(this.coordinator, host).map((known, lane) => ({
      ...known,
      ...(reported[lane] ?? NOTHING_REPORTED),
      answered: answer?.[lane] !== undefined,
    }));
  }
}

/** What a client knows of a host's shards without asking it, in the order of its answer. */
function knownOf({ client }: Coordinator, host: LaneHost): KnownOfShard[] {
  const { isInline: inline, failures } = host;
  const { deaths, restarts } = failures;
  return host.lanes.map(({ placement: shard }) => {
    const { size, capacity, retired, highWater } = client.laneAt(shard).table;
    return { shard, size, capacity, retired, highWater, deaths, restarts, inline };
  });
}
