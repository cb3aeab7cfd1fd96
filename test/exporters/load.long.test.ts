import { createScheduler, type Scheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { killShard, restartShard } from '../fixtures/shard-threads.ts';
import { type Line, valueIn } from './exposition.ts';
import { expectLatenesses, Ledger } from './ledger.ts';
import { expectSameLines, OpenTelemetryPlace, PrometheusPlace } from './places.ts';

const LABELS = ['idle', 'a "quoted" \\ name', '__proto__'];

const valuesOf = (lines: readonly Line[], name: string): number[] =>
  lines.filter((line) => line.name === name).map(({ value }) => value);

const sumOf = (lines: readonly Line[], name: string): number =>
  valuesOf(lines, name).reduce((sum, each) => sum + each, 0);

/** ms within which every shard answers, however busy the machine is. */
const PATIENCE = 20_000;

/** Both formats at once. */
function exportedTwice(scheduler: Scheduler, timeout = PATIENCE) {
  const [prometheus, openTelemetry] = [new PrometheusPlace(), new OpenTelemetryPlace({ readers: 2 })];
  for (const place of [prometheus, openTelemetry]) place.add(scheduler, { timeout });
  /** What a place tells once every client has answered: they have 20 ms, whatever the patience. */
  const readWhole = async (read: () => Promise<Line[]>): Promise<Line[]> => {
    for (;;) {
      const lines = await read();
      if (valuesOf(lines, 'shardwheel_client_answered').every((value) => value === 1)) return lines;
    }
  };
  /** What both tell, which is the same. */
  const readAlike = async (): Promise<Line[]> => {
    const lines = await readWhole(() => prometheus.read());
    for (const reader of [0, 1]) expectSameLines(await readWhole(() => openTelemetry.read(reader)), lines);
    return lines;
  };
  return { prometheus, openTelemetry, readAlike };
}

test.each([0, 1, 3])(
  `on a manual clock, Prometheus, OpenTelemetry and a ledger agree: shards %i, seed ${SEED}`,
  async (shards) => {
    const draws = new Draws(SEED);
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 16_384 });
    const { readAlike } = exportedTwice(scheduler);
    await scheduler.ready;
    const ledger = new Ledger(scheduler, draws, LABELS);
    for (let round = 0; round < 8; round++) {
      ledger.work(1000, 100);
      await scheduler.advanceTo(scheduler.now() + draws.between(0, draws.pick([3, 60, 4000])));
      const lines = await readAlike();
      ledger.expectIn(lines, '0');
      expect(sumOf(lines, 'shardwheel_shard_timers_live')).toBe(ledger.all.live);
      expect(valuesOf(lines, 'shardwheel_shard_fired_total').length).toBe(Math.max(1, shards));
    }
    expect(ledger.all.delivered).toBeGreaterThan(2000);
  },
);

test(`a scrape while shards restart tells what is known, and disturbs no timer, seed ${SEED}`, async () => {
  await using scheduler = createScheduler({ shards: 2, clock: 'manual', capacity: 16_384 });
  const { prometheus, openTelemetry } = exportedTwice(scheduler, 50);
  await scheduler.ready;
  scheduler.on('error', () => undefined); // so many deaths that a shard goes on inline
  const ledger = new Ledger(scheduler, new Draws(SEED), ['idle']);
  for (let round = 0; round < 5; round++) {
    ledger.work(500, 100);
    const restarted = restartShard(scheduler, round % 2);
    for (let scrapes = 0; scrapes < 3; scrapes++) {
      for (const lines of await Promise.all([prometheus.read(), openTelemetry.read()])) ledger.expectIn(lines, '0');
    }
    killShard(scheduler, (round + 1) % 2);
    await restarted;
    await scheduler.advanceTo(scheduler.now() + 60);
    ledger.expectIn(await prometheus.read(), '0');
  }
  await scheduler.advanceTo(scheduler.now() + 200);
  await until(() => ledger.all.live === 0);
  ledger.expectIn(await prometheus.read(), '0');
});

test('what only stats() knows besides is told as it says: shards, scaling, what serves them', async () => {
  await using scheduler = createScheduler({ shards: 2, clock: 'manual', capacity: 8192 });
  const { readAlike } = exportedTwice(scheduler);
  await scheduler.ready;
  await restartShard(scheduler, 1);
  const idle = scheduler.label('idle', { min: 250 });
  for (let i = 0; i < 300; i++) idle.schedule(i, 100 * i);
  for (let i = 0; i < 6000; i++) scheduler.schedule(i, 1000 + 10 * i); // so many that the wheels have them
  const ids = Array.from({ length: 80 }, (_, i) => scheduler.schedule(i, 5));
  await scheduler.advanceTo(1); // they are filed
  for (const id of ids.slice(0, 50)) scheduler.reschedule(id, 500);
  for (const id of ids.slice(50, 70)) scheduler.cancel(id);
  await idle.setScale(0.75);
  await scheduler.advanceTo(400);
  const lines = await readAlike();
  const { shards, wakes, serving, labels } = await scheduler.stats({ timeout: PATIENCE });
  const value = (name: string, more: Record<string, string> = {}) =>
    valueIn(lines, `shardwheel_${name}`, { client: '0', ...more });
  expect(shards.map(({ deaths, restarts }) => [deaths, restarts])).toEqual([
    [0, 0],
    [1, 1],
  ]);
  for (const { cascaded, dropped, fired, refiled } of shards) {
    expect(Math.min(cascaded, dropped, fired, refiled)).toBeGreaterThan(0);
    expect(refiled).not.toBe(dropped); // or one could be told for the other unseen
  }
  // Turns of a shard are no metric: each scrape would be one more.
  for (const { shard, turns, answered, ...told } of shards) {
    expect(answered).toBe(true);
    const of = (name: string) => value(`shard_${name}`, { shard: `${shard}` });
    expect({
      size: of('timers_live'),
      capacity: of('capacity'),
      highWater: of('high_water'),
      retired: of('retired'),
      deaths: of('deaths_total'),
      restarts: of('restarts_total'),
      lanes: of('lanes'),
      commands: of('commands_total'),
      fired: of('fired_total'),
      refiled: of('refiled_total'),
      dropped: of('dropped_total'),
      cascaded: of('cascaded_total'),
      filed: of('filed'),
      bytes: of('memory_bytes'),
      reservedBytes: of('memory_reserved_bytes'),
      inline: of('inline') === 1,
    }).toEqual(told);
  }
  const scaling = [value('label_min_seconds', { label: 'idle' }), value('label_factor', { label: 'idle' })];
  expect([scaling, labels[0]]).toEqual([[0.25, 0.75], expect.objectContaining({ min: 250, factor: 0.75 })]);
  expect([value('client_wakes_total'), value('serving_changes_total')]).toEqual([wakes, serving.changes]);
  expect(value('serving_info', { by: serving.by })).toBe(1);
});

/**
 * What a client of another thread has written down of its own timers; `due`: deadlines of those that have not ended, by
 * id.
 */
const newCounts = () => ({
  scheduled: 0,
  rescheduled: 0,
  cancelled: 0,
  latenesses: [] as number[],
  due: new Map<number, number>(),
});
type Counts = ReturnType<typeof newCounts>;

/**
 * Has the client's thread schedule, move and cancel; returns its counts so far. Its text is what travels: it names
 * nothing else.
 */
const work = (client: ClientThread, operations: number, spread: number): Promise<Counts> =>
  client.run(
    ({ scheduler }, start, operations, spread) => {
      const here = globalThis as unknown as { counts?: Counts };
      here.counts ??= start;
      const { counts } = here;
      const { due, latenesses } = counts;
      const idle = scheduler.label('idle');
      const now = scheduler.now();
      const ids: number[] = [];
      const fired = (_: undefined, id: number) => {
        latenesses.push(scheduler.now() - (due.get(id) as number));
        due.delete(id);
      };
      for (let i = 0; i < operations; i++) {
        const deadline = now + (((i * 7919) % 997) / 997) * spread;
        const id = (i % 3 === 0 ? idle : scheduler).schedule(i, deadline, fired, undefined);
        ids.push(id);
        due.set(id, deadline);
        const other = ids[Math.max(0, i - 30)];
        if (i % 4 === 0 && scheduler.cancel(other)) {
          counts.cancelled += 1;
          due.delete(other);
        } else if (i % 4 === 1 && due.has(other)) {
          if (!scheduler.reschedule(other, deadline)) throw new Error('a live timer was not moved');
          counts.rescheduled += 1;
          due.set(other, deadline);
        }
      }
      counts.scheduled += operations;
      return counts;
    },
    newCounts(),
    operations,
    spread,
  );

test.each(['manual', 'real'] as const)(
  `two shards, a client in another thread, labels: both formats and the ledgers agree, clock %s, seed ${SEED}`,
  async (clock) => {
    const isManual = clock === 'manual';
    await using scheduler = createScheduler({ shards: 2, capacity: 32_768, ...(isManual ? { clock } : {}) });
    const { prometheus, openTelemetry, readAlike } = exportedTwice(scheduler);
    await scheduler.ready;
    const client = ClientThread.connect(scheduler.share());
    const countsOf = () => work(client, 0, 0);
    const draws = new Draws(SEED);
    const ledger = new Ledger(scheduler, draws, ['idle', 'request']);
    let counts = await countsOf();
    for (let round = 1; round <= 6; round++) {
      const spread = draws.pick([5, 60, 300]);
      const far = isManual ? 20 * spread : 0;
      ledger.work(800, spread + far);
      await work(client, 600, spread + far);
      const reading = prometheus.read();
      // A jump: from stop to stop the clock may move on while a callback of the other thread runs.
      if (isManual) await scheduler.advanceTo(scheduler.now() + spread, { jump: true });
      const now = isManual ? scheduler.now() : Number.POSITIVE_INFINITY;
      const during = await reading;
      const delivered = valueIn(during, 'shardwheel_timers_delivered_total', { client: '0' });
      expect(delivered).toBe(valueIn(during, 'shardwheel_timer_lateness_seconds_count', { client: '0' }));
      expect(delivered).toBeLessThanOrEqual(ledger.all.delivered); // nothing that the callbacks have not seen
      await until(() => ledger.isDelivered(now));
      await until(async () => {
        counts = await countsOf();
        return [...counts.due.values()].every((deadline) => deadline > now);
      });

      // At rest: what is due has been delivered on both sides.
      const lines = await readAlike();
      ledger.expectIn(lines, '0', isManual);
      const told = (name: string) => valueIn(lines, `shardwheel_timers_${name}`, { client: '1' });
      expect({
        due: told('live'),
        scheduled: told('scheduled_total'),
        rescheduled: told('rescheduled_total'),
        cancelled: told('cancelled_total'),
        latenesses: told('delivered_total'),
      }).toEqual({ ...counts, due: counts.due.size, latenesses: counts.latenesses.length });
      if (isManual) expectLatenesses(lines, { client: '1' }, counts.latenesses);
      expect(valuesOf(lines, 'shardwheel_shard_lanes')).toEqual([2, 2]);
      // Of both clients together: a shard may also have fired what had been cancelled or moved.
      const fired = sumOf(lines, 'shardwheel_shard_fired_total');
      expect(fired).toBeGreaterThanOrEqual(ledger.all.delivered + counts.latenesses.length);
      // The scheduler reads its clock before a callback runs, so that the callback finds itself at least as late.
      for (const { name, labels, value } of lines) {
        if (name !== 'shardwheel_timer_lateness_seconds_bucket' || labels.client !== '0') continue;
        const bound = Number(labels.le.replace('+Inf', 'Infinity')) * 1000;
        expect(value).toBeGreaterThanOrEqual(ledger.all.latenesses.filter((each) => each < bound * 0.996).length);
      }
    }
    expect(Math.min(counts.latenesses.length, ledger.all.delivered)).toBeGreaterThan(isManual ? 100 : 1500);

    await client[Symbol.asyncDispose]();
    await until(async () => (await scheduler.stats()).clients.length === 1);
    const after = await prometheus.read();
    expect(valueIn(after, 'shardwheel_timers_live', { client: '1' })).toBeUndefined();
    ledger.expectIn(after, '0', isManual);
    // The SDK goes on to report a series that is observed no more: counters as they were, and amounts must not be.
    for (const reader of [0, 1]) {
      const lines = await openTelemetry.read(reader);
      ledger.expectIn(lines, '0', isManual);
      const told = (name: string) => valueIn(lines, `shardwheel_timers_${name}`, { client: '1' });
      expect([told('live'), told('delivered_total')]).toEqual([0, counts.latenesses.length]);
    }
  },
);
