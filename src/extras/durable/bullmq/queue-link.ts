import { show } from '../../../show.ts';
import { DurableStoreError, DurableTimersClosedError, type StoreMeanings } from '../durable-error.ts';
import { Patience } from '../patience.ts';
import type { WallClock } from '../wall-clock.ts';
import { OwnConnections, type RedisClient, type RedisConnection } from './redis-connection.ts';

/** Members that Redis looks at in one go. */
const STEP = 1000;

/** Of a job whose lock has run out. A worker has taken it since, or is about to. */
const lockLost = /(Missing (key|lock)|Lock mismatch) for job|is not in the active state/;
const unreachable =
  /ECONN|ENOTFOUND|EPIPE|EHOST|ENET|ETIMEDOUT|Connection is closed|max(imum)? (number of )?retries|Stream isn't writeable|Command timed out|LOADING|NOAUTH|WRONGPASS|CLUSTERDOWN/i;

/** What errors of BullMQ, of Redis and of its connection mean. */
const meanings: StoreMeanings = [
  ['ERR_STORE_FULL', /\bOOM\b|MISCONF/, 'is full'],
  ['ERR_STORE_READ_ONLY', /READONLY|NOPERM|NOREPLICAS/, 'cannot be written'],
  ['ERR_STORE_LOCK_LOST', lockLost, 'took a timer from this worker while its handler ran'],
  ['ERR_STORE_CORRUPT', /WRONGTYPE/, 'has something else in its keys'],
  ['ERR_STORE_UNREACHABLE', unreachable, 'cannot be reached'],
];

/** Where a queue is. */
export interface QueuePlace {
  readonly connection: RedisConnection;
  readonly queue: string;
  /** What the keys of all queues begin with. */
  readonly prefix: string;
  /** ms for which a lock holds unless it is renewed. */
  readonly stalledAfter: number;
  /** ms for which answers are waited for. */
  readonly timeout: number;
}

interface Opened {
  readonly connections: OwnConnections;
  readonly client: RedisClient;
  readonly clock: WallClock;
  /** Whether the connection for calls is being ended. */
  isEnding: boolean;
}

/** The way to a queue of BullMQ in Redis. */
export class QueueLink {
  readonly place: QueuePlace;
  /** What BullMQ's keys of the queue begin with. */
  readonly prefix: string;
  readonly patience: Patience;
  /** How often the connection for calls has been lost: what was under way has been sent again. */
  private losses = 0;
  private opened: Opened | undefined;

  constructor(place: QueuePlace) {
    const { queue, prefix, timeout } = place;
    this.place = place;
    this.prefix = `${prefix}:${queue}:`;
    this.patience = new Patience(timeout, `The queue ${queue}`);
  }

  open(clock: WallClock): void {
    const connections = new OwnConnections(this.place.connection);
    const client = connections.make(() => undefined); // what fails is told by the calls
    client.on('close', () => {
      this.losses += 1;
    });
    this.opened = { connections, client, clock, isEnding: false };
  }

  /** Ends the connection for calls, in order: what still comes by it is of a store that is closed. */
  async quit(): Promise<void> {
    const { parts } = this;
    parts.isEnding = true;
    await parts.client.quit().catch(() => undefined); // Redis has closed it
  }

  /** Whatever else of this store's is open is closed, too. */
  close(): void {
    this.opened?.connections.release();
    this.opened = undefined;
  }

  /** For calls. */
  get client(): RedisClient {
    return this.parts.client;
  }

  get clock(): WallClock {
    return this.parts.clock;
  }

  get connections(): OwnConnections {
    return this.parts.connections;
  }

  private get parts(): Opened {
    if (this.opened === undefined) throw new DurableTimersClosedError();
    return this.opened;
  }

  /** What an error means. */
  named(cause: unknown): DurableStoreError {
    if (cause instanceof DurableStoreError) return cause;
    const said = cause instanceof Error ? `${cause.name}: ${cause.message}` : show(cause);
    return DurableStoreError.of(`The queue ${this.place.queue}`, meanings, said, cause);
  }

  /**
   * Rejects with DurableStoreError; with DurableTimersClosedError if it is closed by then. It may take effect at any
   * later time.
   */
  async certain<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw (this.opened?.isEnding ?? true) ? new DurableTimersClosedError() : this.named(error);
    }
  }

  /** Rejects with DurableStoreError, also if there is no answer in time. */
  call<T>(work: () => Promise<T>): Promise<T> {
    return this.patience.bounded(this.certain(work()));
  }

  /**
   * Rejects where the work resolves with false and the connection was lost meanwhile. What was sent again may have been
   * done before: then it found nothing left to do.
   */
  async refusalsKnown(work: () => Promise<boolean>): Promise<boolean> {
    const { losses } = this;
    const isDone = await work();
    if (isDone || this.losses === losses) return isDone;
    throw new Error('Connection is closed: the call may have been done before');
  }

  /**
   * Yields the members that match, and what stands beside each, in steps that do not block Redis; some more than once.
   */
  async *scan(command: 'zscan' | 'hscan', key: string, pattern: string): AsyncGenerator<string[]> {
    const { client, prefix } = this;
    let cursor = '0';
    do {
      const [next, pairs] = await this.call(() =>
        client[command](prefix + key, cursor, 'MATCH', pattern, 'COUNT', STEP),
      );
      yield pairs;
      cursor = next;
    } while (cursor !== '0');
  }

  /** Runs a script on keys of the queue, which are given without its prefix. */
  run(script: string, keys: readonly string[], ...args: string[]): Promise<unknown> {
    return this.client.eval(script, keys.length, ...keys.map((key) => this.prefix + key), ...args);
  }
}
