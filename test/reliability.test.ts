import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { resolveOptions } from '../src/assembly/options.ts';
import { points, recoveryPoints } from './fixtures/fault.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(root + path, 'utf8');
const text = read('docs/guarantees.md');
const table = text.slice(text.indexOf('## Memory order'), text.indexOf('## Clients of other threads'));
const FILES = ['lane/lane-memory', 'lane/doorbell', 'sharing/pulse', 'sharing/board', 'time/shared-clock'];

describe('docs/guarantees.md', () => {
  test('names every shared word that the code gives a name', () => {
    const words: string[] = [];
    for (const file of FILES) {
      const offsets = /^(?:export )?const ([A-Z_]+) = (?:\d|(?:CLIENT|SHARD)_GROUP|WORDS_PER_GROUP)/gm;
      words.push(...[...read(`src/${file}.ts`).matchAll(offsets)].map(([, word]) => word));
    }
    // Values and sizes, which are no places.
    const others =
      /^(CLIENT_GROUP|SHARD_GROUP|RECORD_SHIFT|DOUBLES_SHIFT|AWAKE|PARKED_UNTIL_(TICK|RUNG)|MAX_TRIES|WAITERS|RESERVE|ENOUGH_OPEN|INTERVAL_MS|OWNER_PULSE|ENTRY_GROUPS|MAX_CLIENTS|JOINING_LIMIT_MS|OWNER|COUNTS|HOSTS|NOTHING|THREAD_UP|CLIENTS)$/;
    const places = words.filter((word) => !others.test(word));
    expect(places.length).toBeGreaterThan(14);
    expect(places.filter((word) => !table.includes(`\`${word}`))).toEqual([]);
  });

  test('names every suite of faults, and every point at which a fault can happen', () => {
    const suites = readdirSync(`${root}test/faults`).filter((name) => name.endsWith('.test.ts'));
    expect(suites.length).toBeGreaterThan(7);
    expect(suites.filter((name) => !text.includes(`test/faults/${name}`))).toEqual([]);
    const prose = text.replaceAll('\n', ' ');
    expect([...points, ...recoveryPoints].filter((point) => !prose.includes(point))).toEqual([]);
    expect(text).toContain(`4 ways to die × ${points.length + recoveryPoints.length} points`);
  });

  test('tells the defaults as they are', () => {
    const { hangTimeout, inlineAfter } = resolveOptions();
    expect(text).toContain(`\`thread.hangTimeout\` (${hangTimeout / 1000} s)`);
    expect(text).toContain(`\`thread.inlineAfter\` (${inlineAfter.deaths} deaths in ${inlineAfter.within / 1000} s)`);
  });
});
