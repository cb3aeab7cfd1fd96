import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createWheel, PinnedWheel, presets, type TimingWheel } from '../src/entries/wheel.ts';
import { OLD_CALLS } from '../src/scheduler/renamed.ts';
import { Scheduler } from '../src/scheduler/scheduler.ts';
import { TimerGroup } from '../src/scheduler/timer-group.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}README.md`, 'utf8');
const packageJson = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

const codeBlocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]);

describe('README', () => {
  it('shows as its first example the file that the tests run', () => {
    expect(codeBlocks[0]).toBe(readFileSync(`${root}examples/first-timer.ts`, 'utf8'));
  });

  it('names only scripts that package.json has', () => {
    const scripts = [...readme.matchAll(/npm (?:run )?(start|test|bench|[a-z]+:[a-z]+)\b/g)].map((match) => match[1]);
    expect(scripts.length).toBeGreaterThan(2);
    for (const script of scripts) expect(packageJson.scripts).toHaveProperty([script]);
  });

  it('has at most 120 lines', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(120);
  });

  it('names only calls that there are', () => {
    const table = readme.slice(readme.indexOf('## Ways to use it'), readme.indexOf('## Documentation'));
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

  it('states the Node version that package.json asks for', () => {
    expect(readme).toContain(`Node.js ${packageJson.engines.node.replace('>=', '')} or newer`);
  });
});

describe('the table of presets', () => {
  const rows = new Map(
    [
      ...readFileSync(`${root}docs/guide.md`, 'utf8')
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
    expect(tick).toBe(
      name === 'janestreet' ? `${config.engine === 'cascading' && config.precision}` : time(name, wheel.precision),
    );
    expect(geometry).toBe(geometryOf(wheel));
    expect(range).toBe(
      `${name === 'janestreet' ? '2^53 ticks' : time(name, wheel.durations().at(-1) as number)}${beyond(wheel)}`,
    );
    if (wheel instanceof PinnedWheel)
      expect(lateness).toBe(`${[0, 1, 2].map((level) => time(name, wheel.precisionAt(level))).join(', ')} by level`);
    else expect(lateness.startsWith('1 tick')).toBe(true);
  });
});

/** 4 × 256 where levels are alike, else 2048 + 4 × 1024 + 4; all levels apart on a pinned wheel, where no timer moves. */
function geometryOf(wheel: TimingWheel<unknown>): string {
  const slots = wheel.memoryStats().levels.map((level) => level.slots);
  const own = slots.slice(0, wheel.durations().length);
  if (wheel instanceof PinnedWheel) return own.join(' + ');
  const runs: { slots: number; levels: number }[] = [];
  for (const count of own) {
    const last = runs.at(-1);
    if (last?.slots === count) last.levels += 1;
    else runs.push({ slots: count, levels: 1 });
  }
  return runs.map((run) => (run.levels === 1 ? `${run.slots}` : `${run.levels} × ${run.slots}`)).join(' + ');
}

const beyond = (wheel: TimingWheel<unknown>): string =>
  wheel.upperBound === Number.POSITIVE_INFINITY ? ', then a list' : ', then refused';

/** A duration in the preset's unit (ns for pinned3 and twolevel, else ms) as the table writes it. */
function time(preset: string, duration: number): string {
  const ms = ['pinned3', 'twolevel'].includes(preset) ? duration / 1e6 : duration;
  if (ms < 1000) return `${Number(ms.toFixed(2))} ms`;
  const units = [
    ['days', 86_400_000],
    ['hours', 3_600_000],
    ['minutes', 60_000],
    ['s', 1000],
  ] as const;
  const [unit, size] = units.find(([, length]) => ms >= length * 1.2) ?? units[3];
  return `${Number((ms / size).toFixed(unit === 's' ? (ms < 10_000 ? 2 : 1) : 1))} ${unit}`;
}

describe('the comments on V8', () => {
  it('name a paragraph of "Writing for V8"', () => {
    const page = readFileSync(`${root}CONTRIBUTING.md`, 'utf8');
    const [section] = page.slice(page.indexOf('## Writing for V8')).split('\n## ', 1);
    const paragraphs = [...section.matchAll(/^\*\*([A-Z][a-z ]+)\.\*\*/gm)].map(([, name]) => name.toLowerCase());
    const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const cited = sources.flatMap((path) =>
      [...readFileSync(`${root}src/${path}`, 'utf8').matchAll(/\bV8: ([a-z ]+[a-z])/g)].map(([, name]) => name),
    );
    expect(cited.length).toBeGreaterThan(20);
    expect(cited.filter((name) => !paragraphs.includes(name))).toEqual([]);
  });
});
