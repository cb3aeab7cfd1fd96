import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { TTLCache } from '@isaacs/ttlcache';
import { LRUCache } from 'lru-cache';
import type { Scheduler } from 'shardwheel';
import type { LatenessHistogram } from '../../../src/metrics/lateness-histogram.ts';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import { xorshift } from '../../replay/xorshift.ts';
import type { Program, ProgramSubject, RunningProgram } from './program.ts';
import { faces } from './program-timers.ts';
import { ScheduledMap } from './scheduled-map.ts';

const ENTRIES = 1_000_000;
const SETS = 100_000;
/** Sets in one turn of the event loop, and of so many sets one is of an entry that expires meanwhile. */
const CHUNK = 200;
const SHORT = 10;
/** ms that entries live: those that stay, and those that expire. */
const [FAR, FAR_SPAN] = [600_000, 60_000];
const [NEAR, NEAR_SPAN] = [50, 200];
const PATIENCE = 10_000;

/** What the maps have in common. */
interface ExpiringEntries {
  readonly size: number;
  set(key: number, value: object, ttl: number): void;
  clear(): void;
}

const makers: Readonly<Record<string, (scheduler: Scheduler | undefined) => ExpiringEntries>> = {
  'lru-cache': () => new LruEntries(),
  ttlcache: () => new TtlEntries(),
  'Map + schedule': (scheduler) => new ScheduledMap(scheduler!),
};

const subjects: readonly ProgramSubject[] = [
  ...faces.map(({ name, timers }) => ({
    name: `lru-cache, ${name}`,
    timers,
    note: 'ttlAutopurge: a timeout per entry',
  })),
  {
    name: 'ttlcache, node:timers',
    timers: 'node',
    note: '@isaacs/ttlcache: one timeout for all; each time that it fires, all times at which entries expire are listed',
  },
  ...(['inline', 'shard'] as const).map((timers) => ({
    name: `Map + schedule, shardwheel, ${timers === 'shard' ? '1 shard' : timers}`,
    timers,
    note: 'bench/suites/programs/scheduled-map.ts: a Map, and scheduleAfter and rescheduleAfter of the scheduler itself',
  })),
];

/** A map whose entries expire, each at its own time. */
export const expiringMap: Program = {
  name: 'map',
  title: 'a map of a million entries that expire',
  about:
    `${ENTRIES.toLocaleString('en-US')} entries of 10 to 11 minutes. ${SETS.toLocaleString('en-US')} sets, ${CHUNK} in a turn: of ${SHORT} ` +
    `one is of a new entry of ${NEAR} to ${NEAR + NEAR_SPAN} ms, the others of random old ones; until the short ones are gone.`,
  operation: 'set',
  live: 'entry',
  memoryPart: 0.25,
  slices: 2,
  wait: `${CHUNK} sets and the turn`,
  subjects,
  start: async (part, { name }, scheduler) => {
    const running = new Entries(
      makers[name.split(', ')[0]](scheduler),
      Math.round(ENTRIES * part),
      CHUNK * Math.ceil((SETS * part) / CHUNK),
    );
    await running.fill();
    return running;
  },
};

class Entries implements RunningProgram {
  readonly live: number;
  readonly #map: ExpiringEntries;
  readonly #sets: number;
  #state = SEED;

  constructor(map: ExpiringEntries, live: number, sets: number) {
    this.#map = map;
    this.live = live;
    this.#sets = sets;
  }

  async fill(): Promise<void> {
    for (let key = 0; key < this.live; key++) {
      this.#map.set(key, { key }, FAR + this.#draw(FAR_SPAN));
      if (key % CHUNK === 0) await nextTurn();
    }
  }

  async work(waits: LatenessHistogram): Promise<number> {
    for (let done = 0; done < this.#sets; done += CHUNK) {
      const start = performance.now();
      for (let at = done; at < done + CHUNK; at++) {
        if (at % SHORT === 0) this.#map.set(this.live + at, { at }, NEAR + this.#draw(NEAR_SPAN));
        else this.#map.set(this.#draw(this.live), { at }, FAR + this.#draw(FAR_SPAN));
      }
      await nextTurn();
      waits.record(performance.now() - start);
    }
    const end = performance.now() + PATIENCE;
    while (this.#map.size > this.live && performance.now() < end) await sleep(10);
    return this.#sets;
  }

  async stop(): Promise<void> {
    const { size } = this.#map;
    this.#map.clear();
    if (size !== this.live) throw new Error(`${size} entries of ${this.live} remain`);
  }

  #draw(range: number): number {
    this.#state = xorshift(this.#state);
    return scaled(this.#state, scaleFor(range));
  }
}

class LruEntries implements ExpiringEntries {
  readonly #cache = new LRUCache<number, object>({ ttl: FAR, ttlAutopurge: true });

  get size(): number {
    return this.#cache.size;
  }

  set(key: number, value: object, ttl: number): void {
    this.#cache.set(key, value, { ttl });
  }

  clear(): void {
    for (const key of [...this.#cache.keys()]) this.#cache.delete(key); // clear() leaves the timeouts of its entries
  }
}

class TtlEntries implements ExpiringEntries {
  readonly #cache = new TTLCache<number, object>();

  get size(): number {
    return this.#cache.size;
  }

  set(key: number, value: object, ttl: number): void {
    this.#cache.set(key, value, { ttl });
  }

  clear(): void {
    this.#cache.clear();
  }
}
