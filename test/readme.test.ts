import { describe, expect, it, test } from 'vitest';
import { createWheel, PinnedWheel, presets } from '../src/entries/wheel.ts';
import { OLD_CALLS } from '../src/renamed.ts';
import { Scheduler } from '../src/scheduler/scheduler.ts';
import { TimerGroup } from '../src/scheduler/timer-group.ts';
import { below, read, sources } from './docs/documents.ts';

const readme = read('README.md');
const packageJson = JSON.parse(read('package.json'));

describe('README', () => {
  it('shows as its first example the file that the tests run', () => {
    expect(/```ts\n([\s\S]*?)```/.exec(readme)?.[1]).toBe(read('examples/first-timer.ts'));
  });

  it('has at most 120 lines', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(120);
  });

  it('states every release of Node from which package.json asks for a line', () => {
    const releases = packageJson.engines.node.match(/\d+\.\d+/g) ?? [];
    expect(releases.length).toBeGreaterThan(0);
    for (const document of ['README.md', 'docs/install.md', 'docs/support.md']) {
      for (const release of releases) expect(read(document), document).toContain(release);
    }
  });
});

test("the guide's table of what there is names only calls that there are", () => {
  const table = below('## What there is', read('docs/guide.md')) ?? '';
  const named = [...table.matchAll(/(\w+)\(/g)].map((match) => match[1]);
  const classes = [Scheduler.prototype, TimerGroup.prototype];
  const methods = classes.flatMap(Object.getOwnPropertyNames);
  const known = new Set([
    ...methods.filter((name) => !OLD_CALLS.includes(name)),
    'createScheduler',
    'connectScheduler',
    'createWheel',
  ]);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

describe('the table of presets', () => {
  const rows = new Map(
    [
      ...read('docs/guide.md')
        .split('## Wheels alone')[1]
        .matchAll(/^\| `(\w+)` \|(.*)\|$/gm),
    ].map(([, name, cells]) => [name, cells.split('|').map((cell) => cell.trim())]),
  );

  it('has a row for each preset', () => {
    expect([...rows.keys()]).toEqual(Object.keys(presets));
  });

  it.each(Object.entries(presets))('%s: tick, geometry, range and lateness are those of the code', (name, config) => {
    const wheel = createWheel(config);
    const [tick, geometry, range, lateness] = rows.get(name) as string[];
    const [within, beyond] = range.split(', then ');
    expect(beyond).toBe(wheel.upperBound === Number.POSITIVE_INFINITY ? 'a list' : 'refused');
    if (name === 'janestreet') {
      expect(tick).toBe(`${config.engine === 'cascading' && config.precision}`);
      expect(within).toBe('2^53 ticks');
    } else {
      expectTime(tick, name, wheel.precision);
      expectTime(within, name, wheel.durations().at(-1) as number);
    }
    const slots = wheel.memoryStats().levels.map((level) => level.slots);
    expect(slotsOf(geometry)).toEqual(slots.slice(0, wheel.durations().length));
    if (!(wheel instanceof PinnedWheel)) expect(lateness.startsWith('1 tick')).toBe(true);
    else {
      const times = lateness.replace(' by level', '').split(', ');
      for (const [level, time] of times.entries()) expectTime(time, name, wheel.precisionAt(level));
      expect(times.length).toBe(3);
    }
  });
});

/** Slots by level: 2048 + 4 × 1024 + 4 are those of six levels. */
const slotsOf = (geometry: string): number[] =>
  geometry.split(' + ').flatMap((part) => {
    const [slots, levels = 1] = part.split(' × ').map(Number).reverse();
    return Array(levels).fill(slots);
  });

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

/**
 * The text states a duration in the preset's unit (ns for pinned3 and twolevel, else ms), rounded to its last digit.
 */
function expectTime(text: string, preset: string, duration: number): void {
  const [, digits, unit] = /^([\d.]+) (\w+)$/.exec(text) ?? [];
  const ms = ['pinned3', 'twolevel'].includes(preset) ? duration / 1e6 : duration;
  const decimals = digits.split('.')[1]?.length ?? 0;
  expect((ms / UNITS[unit]).toFixed(decimals)).toBe(digits);
}

it('the comments on V8 name a paragraph of "Writing for V8"', () => {
  const section = below('## Writing for V8', read('CONTRIBUTING.md')) ?? '';
  const paragraphs = [...section.matchAll(/^\*\*([A-Z][a-z ]+)\.\*\*/gm)].map(([, name]) => name.toLowerCase());
  const cited = sources.flatMap((text) => [...text.matchAll(/\bV8: ([a-z ]+[a-z])/g)].map(([, name]) => name));
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter((name) => !paragraphs.includes(name))).toEqual([]);
});
