import { memoryStore, openDurableTimers } from 'shardwheel/durable';
import { beforeAll, expect, test } from 'vitest';
import { UNSEEN } from '../../src/extras/dashboard/page/format.ts';
import type { View } from '../../src/extras/dashboard/page/model.ts';
import { jsonOf, lineOf, screenOf } from '../../tools/cli/watch-view.ts';
import { EventReader } from '../../tools/cli/watched-dashboard.ts';
import { Watcher } from '../dashboard/dashboard-client.ts';
import { served } from '../dashboard/served.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

const ESCAPES = '\x1b[2J\x1b]0;title\x07\x9b31m\x7f\u202e\u2066\u2028\ufeff\ud800\u{e0041}\r\n\t\b';

/** In the place of anything that a dashboard sends. */
const hostile: unknown[] = [
  ESCAPES,
  ESCAPES.repeat(10_000),
  'x'.repeat(1_000_000),
  '',
  null,
  true,
  -1,
  1e308,
  -1e308,
  0.1,
  2 ** 53,
  [],
  {},
  [[ESCAPES]],
  { [ESCAPES]: ESCAPES, length: -1 },
  { length: 1e9, toString: ESCAPES, valueOf: null, toJSON: ESCAPES, entries: 1 },
  JSON.parse(`{ "__proto__": { "isHostile": true }, "constructor": { "prototype": { "isHostile": true } } }`),
  new Array(10_000).fill(1e300),
];

type Path = readonly (string | number)[];

/** Where a message has a value, itself included. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => pathsIn(each, [...path, key]))];
}

/** The same message, with another value there. */
function withValue(message: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const copy = Array.isArray(message) ? [...message] : { ...(message as object) };
  Object.assign(copy, { [key]: withValue((message as Record<string, unknown>)[key], rest, value) });
  return copy;
}

let hello: unknown;
/** Two that follow each other, so that there are rates. */
let samples: unknown[];
let paths: Path[];

beforeAll(async () => {
  const durable = await openDurableTimers({ store: memoryStore() });
  await using shown = await served({ durable });
  const scheduler = shown.scheduler;
  for (let i = 0; i < 30; i++) scheduler.label('idle').scheduleAfter(i, 3_600_000);
  using watcher = await Watcher.open(shown.url);
  hello = watcher.hello;
  samples = [await watcher.sample(), await watcher.sample()];
  const [, sample] = samples;
  Object.assign(sample as object, { restarted: [{ at: 1, shard: 0, cause: 'a cause', rescheduled: 1 }] });
  paths = pathsIn(sample).filter((path) => !path.some((key) => /^[1-9]\d*$/.test(`${key}`))); // the first of each list
  await durable.close();
});

const REFUSAL = 'http://there is not a dashboard of shardwheel';
const shows = { jsonOf, lineOf, screenOf };

const written = (message: unknown): string => JSON.stringify(message);

/** What a reader tells of these events; the error that it ends with. */
function told(show: (view: View) => string, events: readonly (readonly [event: string, message: unknown])[]) {
  const reader = new EventReader('http://there', show);
  const texts: string[] = [];
  try {
    for (const [event, message] of events) {
      const news = reader.read({ event, data: written(message) });
      if (news !== undefined) texts.push('text' in news ? news.text : JSON.stringify(news));
    }
  } catch (error) {
    return { texts, error: error as Error };
  }
  return { texts, error: undefined };
}

function expectHarmless(text: string, name: string): void {
  const lines = text.split('\n');
  for (const line of lines) {
    if (name === 'jsonOf') expect(() => JSON.parse(line)).not.toThrow();
    else expect(line.length).toBeLessThan(50_000);
    expect(line.match(UNSEEN)).toBeNull();
  }
}

test(`a sample with anything in any place is shown without what commands a terminal, or refused, seed ${SEED}`, () => {
  const draws = new Draws(SEED);
  const { error, texts } = told(screenOf, [['hello', hello], ...samples.map((each) => ['sample', each] as const)]);
  expect([error, texts.length]).toEqual([undefined, 2]);
  expect(paths.length).toBeGreaterThan(100);
  const counts = { shown: 0, refused: 0 };
  for (const path of [...paths, ...paths, ...paths]) {
    const [name, show] = draws.pick(Object.entries(shows));
    const { texts, error } = told(show, [
      ['hello', hello],
      ['sample', samples[0]],
      ['sample', withValue(samples[1], path, draws.pick(hostile))],
    ]);
    if (error === undefined) expectHarmless(texts[1], name);
    else expect(error.message).toBe(REFUSAL);
    counts[error === undefined ? 'shown' : 'refused'] += 1;
  }
  expect(counts.shown).toBeGreaterThan(100);
  expect(counts.refused).toBeGreaterThan(10);
  expect(({} as { isHostile?: boolean }).isHostile).toBeUndefined();
});

test.each(['hello', 'waiting', 'end', 'other'])('%s with anything in any place is told by type, or refused', (name) => {
  const bodies = { hello, waiting: { seconds: 1 }, end: { reason: 'over' }, other: {} } as Record<string, unknown>;
  let cases = 0;
  for (const path of pathsIn(bodies[name])) {
    for (const value of hostile) {
      const { texts, error } = told(lineOf, [
        ['hello', hello],
        [name, withValue(bodies[name], path, value)],
      ]);
      const [text] = texts;
      if (text !== undefined) expect(text).toMatch(name === 'end' ? /^{"ended":"/ : /^{"waiting":-?[\d.e+]+}$/);
      if (error !== undefined && !/^http:\/\/there is served by shardwheel /.test(error.message)) {
        expect(error.message).toBe(REFUSAL);
      }
      expect(error?.message.length ?? 0).toBeLessThan(300);
      cases += 1;
    }
  }
  expect(cases).toBeGreaterThanOrEqual(hostile.length);
});

test('no JSON, and JSON that nests deeply, is refused', () => {
  for (const data of [
    '',
    '{',
    '[1',
    ESCAPES,
    '['.repeat(100_000),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    'null',
  ]) {
    const reader = new EventReader('http://there', lineOf);
    reader.read({ event: 'hello', data: JSON.stringify(hello) });
    expect(() => reader.read({ event: 'sample', data })).toThrow(REFUSAL);
  }
});
