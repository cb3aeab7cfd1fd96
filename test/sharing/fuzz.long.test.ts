import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { pass } from '../fixtures/event-loop.ts';
import { type Counts, FuzzedClient } from './fuzzed-client.ts';

const CLIENTS = 3;
const isSlow = process.env.SHARDWHEEL_SLOW !== undefined;
const OPERATIONS = isSlow ? 1e8 : 2e6;
const SHARDS = [1, 'auto', 2, 0] as const;
/** Faults after which the owner is gone as well, and another begins. */
const FAULTS_PER_OWNER = isSlow ? 16 : 4;

interface Sums extends Counts {
  lost: number;
}

/**
 * Three clients and an owner, each driven at random on its own thread and held against a model of its own, while
 * shards, clients and owners are killed, closed and blocked.
 */
test(`${OPERATIONS} operations of ${CLIENTS} clients, with crashes of all kinds, seed ${SEED}`, {
  timeout: 1_200_000,
}, async () => {
  const draws = new Draws(SEED);
  const sums: Sums = { operations: 0, delivered: 0, early: 0, doubled: 0, wrong: 0, lost: 0 };
  const wrongs: string[] = [];
  const ends = { owners: 0, clients: 0, shards: 0, blocks: 0, closed: 0 };
  const seed = () => draws.below(2 ** 31);

  const add = (counts: Counts) => {
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) sums[name] += counts[name];
  };
  const stop = async (client: FuzzedClient) => {
    const { lost, wrong } = await client.stop();
    sums.lost += lost;
    if (wrong !== undefined) wrongs.push(wrong);
    add(client.counts);
  };

  for (let round = 0; sums.operations < OPERATIONS || round < SHARDS.length; round++) {
    const shards = SHARDS[round % SHARDS.length];
    const owner = new FuzzedClient(seed(), { options: { shards, capacity: 8192, thread: { hangTimeout: 2000 } } });
    const handle = await owner.handle;
    const clients = Array.from({ length: CLIENTS }, () => new FuzzedClient(seed(), { handle }));
    await Promise.all(clients.map((client) => client.handle));
    for (let fault = 0; fault < FAULTS_PER_OWNER; fault++) {
      await pass(draws.between(20, 250));
      const at = draws.below(CLIENTS);
      switch (draws.below(3)) {
        case 0:
          await clients[at].terminate();
          await stop(clients[at]);
          clients[at] = new FuzzedClient(seed(), { handle });
          await clients[at].handle; // before the owner may be gone
          ends.clients += 1;
          break;
        case 1:
          owner.killShard(draws.below(2));
          ends.shards += 1;
          break;
        default:
          draws.pick([owner, ...clients]).block(draws.between(1, 200));
          ends.blocks += 1;
      }
    }
    for (const lost of await Promise.all(clients.map((client) => client.drain()))) sums.lost += lost;
    if (draws.below(2) === 0) {
      await owner.close();
      ends.closed += 1;
    } else {
      await owner.terminate();
      ends.owners += 1;
    }
    add(owner.counts);
    await pass(draws.between(50, 400)); // the others go on
    await Promise.all(clients.map(stop));
  }
  expect(wrongs).toEqual([]);
  expect(sums).toMatchObject({ early: 0, doubled: 0, wrong: 0, lost: 0 });
  expect(sums.delivered).toBeGreaterThan(sums.operations / 100);
  expect(ends.clients + ends.shards + ends.blocks).toBeGreaterThanOrEqual(SHARDS.length * FAULTS_PER_OWNER);
  expect(ends.owners + ends.closed).toBeGreaterThan(0);
  process.stdout.write(`${JSON.stringify({ ...sums, ...ends })}\n`);
});
