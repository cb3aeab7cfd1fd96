import { createScheduler } from 'shardwheel';
import { memoryStore, openDurableTimers } from 'shardwheel/durable';
import { afterAll, expect, test } from 'vitest';
import { badValues } from '../fixtures/bad-values.ts';
import { places, promisedPlaces } from '../scheduler/argument-places.ts';
import { optionTakers } from '../scheduler/option-takers.ts';
import { api, below } from './documents.ts';

const newScheduler = () => createScheduler({ shards: 0, clock: 'manual', capacity: 4096 });
const scheduler = newScheduler();
const durable = await openDurableTimers({ store: memoryStore() });
afterAll(async () => {
  await durable.close();
  await scheduler.close();
});

/** The heading of the call that a place's name begins with, such as `label().schedule(deadline)`. */
function headingOf(name: string): string {
  const [, owner = '', call] = /^(?:(\w+)(?:\(\))?\.)?(\w+)/.exec(name) as RegExpExecArray;
  if (owner === 'durable') return `DurableTimers.${call}`;
  if (owner === 'group') return `TimerGroup.${call}`;
  for (const known of [`TimerStarts.${call}`, owner === 'label' ? `TimerLabel.${call}` : `Scheduler.${call}`]) {
    if (api.includes(`\n### ${known}\n`)) return known;
  }
  return call;
}

/** What the API says of a call, and of those that it is like. */
function saidOf(heading: string): string {
  const text = below(`### ${heading}`, api) ?? below(`## ${heading}`, api);
  if (text === undefined) throw new Error(`no heading ${heading}`);
  const own = text.split('\n### ')[0];
  const others = own.matchAll(/(?:\*\*Throws\*\*|\bWorks) (?:like|as) \[?`(\w+(?:\.\w+)?)`/gi);
  return [own, ...Array.from(others, ([, name]) => saidOf(name.includes('.') ? name : likeOf(heading, name)))].join(
    '\n',
  );
}

const likeOf = (heading: string, name: string): string => `${heading.split('.')[0]}.${name}`;

async function errorOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return (error as Error).constructor.name;
  }
}

/** The errors of calls that the API does not say of them. */
class Unsaid {
  readonly all = new Set<string>();
  count = 0;

  async add(name: string, call: () => unknown): Promise<void> {
    const error = await errorOf(call);
    if (error === undefined) return;
    this.count += 1;
    const heading = headingOf(name);
    if (!new RegExp(`\\b${error}\\b`).test(saidOf(heading))) this.all.add(`${heading}: ${error}`);
  }
}

test('what a call throws for its arguments is said of it', async () => {
  const unsaid = new Unsaid();
  for (const place of [...places, ...promisedPlaces]) {
    for (const { value } of badValues) {
      if (place.rule.isGood(value)) continue;
      const live = scheduler.schedule('live', 1e9);
      await unsaid.add(place.name, () => place.call(scheduler, value as never, live));
      scheduler.cancelMany([...scheduler.liveTimers()].map(({ id }) => id as number));
    }
  }
  expect([...unsaid.all]).toEqual([]);
  expect(unsaid.count).toBeGreaterThan(300);
});

test('what a call throws for its options is said of it', async () => {
  const unsaid = new Unsaid();
  for (const [name, take] of Object.entries(optionTakers(scheduler, durable))) {
    for (const options of [5, { noSuchOption: 1 }]) await unsaid.add(name, () => take(options as never));
  }
  expect([...unsaid.all]).toEqual([]);
  expect(unsaid.count).toBeGreaterThan(40);
});

test('what a call of a closed scheduler throws is said of it', async () => {
  const unsaid = new Unsaid();
  for (const place of [...places, ...promisedPlaces]) {
    const closed = newScheduler();
    closed.label('scaled', { min: 100 });
    await closed.close();
    for (const value of [5, () => undefined]) {
      if (!place.rule.isGood(value)) continue;
      await unsaid.add(place.name, () => place.call(closed, value as never, 1));
    }
  }
  expect([...unsaid.all]).toEqual([]);
  expect(unsaid.count).toBeGreaterThan(10);
});
