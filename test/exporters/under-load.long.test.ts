import { Registry } from 'prom-client';
import { createScheduler } from 'shardwheel';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';
import { afterAll, expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { expectParsedAlike } from './agreement.ts';
import { expectSameSeries, newProvider } from './collected.ts';
import { familiesOf, scrape, valueIn } from './exposition.ts';
import { expectLatenesses, Ledger } from './ledger.ts';

/** What a client of another thread has written down of its own timers. */
interface Counts {
  scheduled: number;
  rescheduled: number;
  cancelled: number;
  latenesses: number[];
  /** By deadline: those that have not ended. */
  due: number[];
}

/** Has the client's thread schedule, move and cancel. Its text is what travels: it names nothing else. */
const work = (client: ClientThread, seed: number, operations: number, spread: number): Promise<void> =>
  client.run(
    ({ scheduler }, seed, operations, spread) => {
      const here = globalThis as unknown as { counts?: Counts; deadlines?: Map<number, number> };
      here.counts ??= { scheduled: 0, rescheduled: 0, cancelled: 0, latenesses: [], due: [] };
      here.deadlines ??= new Map();
      const { counts, deadlines } = here as Required<typeof here>;
      let state = seed;
      const draw = (end: number) => {
        state = (state * 48_271) % 2_147_483_647;
        return state % end;
      };
      const idle = scheduler.label('idle');
      const now = scheduler.now();
      const ids: number[] = [];
      for (let i = 0; i < operations; i++) {
        const deadline = now + (draw(1e6) / 1e6) * spread;
        const fired = (_: undefined, id: number) => {
          counts.latenesses.push(scheduler.now() - (deadlines.get(id) as number));
          deadlines.delete(id);
        };
        const id = (draw(2) === 0 ? idle : scheduler).schedule(draw(1000), deadline, fired, undefined);
        ids.push(id);
        counts.scheduled += 1;
        deadlines.set(id, deadline);
        const other = ids[draw(ids.length)];
        if (draw(4) === 0 && scheduler.cancel(other)) {
          counts.cancelled += 1;
          deadlines.delete(other);
        } else if (draw(4) === 0 && deadlines.has(other)) {
          const moved = now + (draw(1e6) / 1e6) * spread;
          if (!scheduler.reschedule(other, moved)) throw new Error('a live timer was not moved');
          counts.rescheduled += 1;
          deadlines.set(other, moved);
        }
      }
    },
    seed,
    operations,
    spread,
  );

const countsOf = (client: ClientThread): Promise<Counts> =>
  client.run(() => {
    const { counts, deadlines } = globalThis as unknown as { counts: Counts; deadlines: Map<number, number> };
    return { ...counts, due: [...deadlines.values()] };
  });

const threads: ClientThread[] = [];

afterAll(() => Promise.all(threads.map((thread) => thread[Symbol.asyncDispose]())));

test.each(['manual', 'real'] as const)(
  `two shards, a client in another thread, labels: both metrics and the ledgers agree, clock %s, seed ${SEED}`,
  async (clock) => {
    await using scheduler = createScheduler({
      shards: 2,
      capacity: 32_768,
      ...(clock === 'manual' ? { clock } : undefined),
    });
    const registry = new Registry();
    registerMetrics(scheduler, registry);
    const { provider, collect } = newProvider();
    observeMetrics(scheduler, provider.getMeter('test'));
    await scheduler.ready;
    const client = ClientThread.connect(scheduler.share());
    threads.push(client);
    const draws = new Draws(SEED);
    const ledger = new Ledger(scheduler, draws, ['idle', 'request']);
    const isManual = clock === 'manual';

    /** At rest: what is due has been delivered on both sides. */
    const expectAgreement = async () => {
      const text = await scrape(registry);
      const families = familiesOf(text);
      expectParsedAlike(text, families);
      ledger.expectIn(families, '0', isManual);
      const counts = await countsOf(client);
      const value = (name: string) => valueIn(families, `shardwheel_timers_${name}`, { client: '1' });
      expect([
        value('live'),
        value('scheduled_total'),
        value('rescheduled_total'),
        value('cancelled_total'),
        value('delivered_total'),
      ]).toEqual([counts.due.length, counts.scheduled, counts.rescheduled, counts.cancelled, counts.latenesses.length]);
      if (isManual) expectLatenesses(families, { client: '1' }, counts.latenesses);
      for (const { value } of families.get('shardwheel_shard_lanes')?.lines ?? []) expect(value).toBe(2);
      // Of both clients together: a shard may also have fired what had been cancelled or moved.
      const fired = families.get('shardwheel_shard_fired_total')?.lines.reduce((sum, { value }) => sum + value, 0);
      expect(fired).toBeGreaterThanOrEqual(ledger.delivered + counts.latenesses.length);
      expectSameSeries(await collect(), families);
      return counts;
    };

    for (let round = 1; round <= 6; round++) {
      const spread = draws.pick([5, 60, 300]);
      const far = isManual ? 20 * spread : 0;
      ledger.work(800, spread + far);
      await work(client, draws.below(1e9) + 1, 600, spread + far);
      const during = scrape(registry);
      const now = isManual ? await scheduler.advanceTo(scheduler.now() + spread).then(() => scheduler.now()) : Infinity;
      await until(() => ledger.isDelivered(now));
      await until(async () => (await countsOf(client)).due.every((deadline) => deadline > now));
      familiesOf(await during);
      await expectAgreement();
    }
    const { latenesses } = await expectAgreement();
    expect(Math.min(latenesses.length, ledger.delivered)).toBeGreaterThan(isManual ? 100 : 1500);
  },
);
