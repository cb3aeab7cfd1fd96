/** What this package uses of a client of ioredis. */
export interface RedisConnection {
  duplicate(options: { maxRetriesPerRequest: null }): RedisConnection;
  ping(): Promise<unknown>;
  get(key: string): Promise<string | null>;
  mget(keys: string[]): Promise<(string | null)[]>;
  set(key: string, value: string, condition: 'NX'): Promise<unknown>;
  hget(key: string, field: string): Promise<string | null>;
  exists(key: string): Promise<number>;
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
  lrange(key: string, start: number, end: number): Promise<string[]>;
  zscan(
    key: string,
    cursor: string,
    match: 'MATCH',
    pattern: string,
    count: 'COUNT',
    number: number,
  ): Promise<[cursor: string, pairs: string[]]>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  quit(): Promise<unknown>;
}

export interface QueueOptions {
  readonly connection: RedisConnection;
  readonly queue: string;
  /** ms */
  readonly stalledAfter: number;
  /** ms */
  readonly timeout: number;
}
