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
export interface RedisConnection {
  duplicate(options: { maxRetriesPerRequest: null }): RedisConnection;
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
  zscan: Scan;
  on(event: 'error', listener: (error: Error) => void): unknown;
  quit(): Promise<unknown>;
  disconnect(): void;
}

export interface QueueOptions {
  readonly connection: RedisConnection;
  readonly queue: string;
  /** ms */
  readonly stalledAfter: number;
  /** ms */
  readonly timeout: number;
}
