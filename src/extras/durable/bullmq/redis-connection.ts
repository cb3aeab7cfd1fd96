/**
 * A client of ioredis that the caller has made, `Redis` or `Cluster`: the store makes its own connections by its
 * settings.
 */
export interface RedisConnection {
  readonly isCluster: boolean;
  readonly options: { readonly keyPrefix?: string | undefined; readonly redisOptions?: object | undefined };
  duplicate(...settings: never[]): unknown;
}

/** A step over the members of a set or a hash that match a pattern. */
type Scan = (
  key: string,
  cursor: string,
  match: 'MATCH',
  pattern: string,
  count: 'COUNT',
  number: number,
) => Promise<[cursor: string, pairs: string[]]>;

/** What this package uses of a client of ioredis. */
export interface RedisClient extends RedisConnection {
  /** 'end' once it is closed for good. */
  readonly status: string;
  ping(): Promise<unknown>;
  get(key: string): Promise<string | null>;
  mget(keys: string[]): Promise<(string | null)[]>;
  set(key: string, value: string, condition: 'NX'): Promise<unknown>;
  hset(key: string, field: string, value: string): Promise<unknown>;
  hdel(key: string, field: string): Promise<number>;
  hlen(key: string): Promise<number>;
  hscan: Scan;
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
  lrange(key: string, start: number, end: number): Promise<string[]>;
  zcount(key: string, least: string, most: number): Promise<number>;
  zscan: Scan;
  info(section: 'memory'): Promise<string>;
  config(command: 'GET', name: 'maxmemory-policy'): Promise<string[]>;
  /** Of a cluster: its servers. */
  nodes?(role: 'master'): RedisClient[];
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  connect(): Promise<void>;
  quit(): Promise<unknown>;
  disconnect(): void;
}

/**
 * What the store's connections have in place of the caller's settings. Limits of time are for commands that are
 * answered at once: they would end each read that waits for the next timer, and a call that was given up may have been
 * done. Calls are waited for as long as the store's `timeout` says.
 */
const SETTINGS = {
  commandTimeout: undefined,
  socketTimeout: undefined,
  blockingTimeout: undefined,
  maxRetriesPerRequest: null,
  autoResendUnfulfilledCommands: true,
  enableOfflineQueue: true,
  lazyConnect: false,
  stringNumbers: false,
  replyMapping: 'legacy',
};

/** The connections of a store that is open. They lead where the caller's client does. */
export class OwnConnections {
  private readonly given: RedisConnection;
  private readonly all: RedisClient[] = [];

  constructor(given: RedisConnection) {
    this.given = given;
  }

  /** Makes one. Further ones that BullMQ makes of it are the store's as well. */
  make(failed: (error: Error) => void): RedisClient {
    const made = duplicateOf(this.given);
    made.on('error', failed);
    const duplicate = made.duplicate.bind(made);
    made.duplicate = (...settings) => this.keep(duplicate(...settings) as RedisClient);
    return this.keep(made);
  }

  /**
   * Closes what is open still, for good: a worker that ends connects once more, and a silent Redis would hold the
   * process by that.
   */
  release(): void {
    for (const connection of this.all) {
      connection.connect = () => Promise.reject(new Error('Connection is closed.'));
      // of one that has ended ioredis would wait 2 s for the end
      if (connection.status !== 'end') connection.disconnect();
    }
  }

  private keep(connection: RedisClient): RedisClient {
    this.all.push(connection);
    return connection;
  }
}

function duplicateOf(given: RedisConnection): RedisClient {
  const duplicate = given.duplicate.bind(given) as (...settings: unknown[]) => RedisClient;
  if (!given.isCluster) return duplicate(SETTINGS);
  const redisOptions = { ...given.options.redisOptions, ...SETTINGS };
  return duplicate([], { enableOfflineQueue: true, lazyConnect: false, redisOptions });
}
