import { describe, expect, it } from 'vitest';
import type { Program, RunningProgram } from '../../bench/suites/programs/program.ts';
import { wordsOf } from '../../bench/suites/programs/program-figures.ts';
import { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';

// Threads load built JavaScript only.
const built = (path: string) => import(new URL(`../../dist/bench/suites/programs/${path}`, import.meta.url).href);
const { programs }: typeof import('../../bench/suites/programs/programs.ts') = await built('programs.js');
const { ProgramTimers }: typeof import('../../bench/suites/programs/program-timers.ts') =
  await built('program-timers.js');
const { programSuite }: typeof import('../../bench/suites/programs/program-suite.ts') = await built('program-suite.js');
const { ScheduledMap }: typeof import('../../bench/suites/programs/scheduled-map.ts') = await built('scheduled-map.js');
const { createScheduler }: typeof import('../../src/entries/index.ts') = await import(
  new URL('../../lib/index.js', import.meta.url).href
);

const nodes = globalThis.setTimeout;

describe('the timers of a program', () => {
  it.each(['inline', 'shard', 'node'] as const)('%s: stand in the place of Node’s while it runs', async (kind) => {
    const timers = new ProgramTimers(kind);
    await timers.ready();
    const fired = await timers.run(async () => {
      expect(globalThis.setTimeout === nodes).toBe(kind === 'node');
      return new Promise((resolve) => void setTimeout(resolve, 5, kind));
    });
    expect(fired).toBe(kind);
    expect(globalThis.setTimeout).toBe(nodes);
    await timers.close();
  });

  it('are put back when the program throws', async () => {
    const timers = new ProgramTimers('inline');
    await expect(timers.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(globalThis.setTimeout).toBe(nodes);
    await timers.close();
  });
});

describe('a suite', () => {
  const log: string[] = [];
  const running = (name: string, rest: Partial<RunningProgram> = {}): RunningProgram => ({
    live: 1,
    work: async (waits) => {
      log.push(`${name} works`);
      waits.record(2);
      return 10;
    },
    stop: async () => void log.push(`${name} stops`),
    ...rest,
  });
  const program = (start: Program['start']): Program => ({
    name: 'example',
    title: '',
    about: '',
    operation: 'step',
    wait: 'step',
    slices: 2,
    subjects: [
      { name: 'a', timers: 'node' },
      { name: 'b', timers: 'inline' },
    ],
    start,
  });

  it('begins a program for each slice, to and fro, after a small one of each', async () => {
    log.length = 0;
    const sizes: number[] = [];
    const suite = programSuite(
      program(async (part, { name }) => {
        sizes.push(part);
        return running(name);
      }),
    );
    const [first] = await suite.runTogether!(['a', 'b'], { quick: true }, 'slices');
    expect(log.filter((line) => line.endsWith('works')).map((line) => line[0])).toEqual([...'ab', ...'abba']);
    expect(log.filter((line) => line.endsWith('stops')).length).toBe(6);
    expect(sizes.map((size) => size === 0.01)).toEqual([false, false, ...Array(4).fill(true)]);
    expect(first.checksums).toEqual({ operations: 20 });
    expect(first.figures.p99).toBeCloseTo(2, 1);
  });

  it('keeps one program where it can move to other timers, after a slice of each that nobody measures', async () => {
    log.length = 0;
    const suite = programSuite({
      ...program(async (_, { name }) => running(name, { move: () => void log.push('moves') })),
      isKept: true,
    });
    await suite.runTogether!(['a', 'b'], { quick: true }, 'slices');
    const measured = log.slice(log.indexOf('b stops') + 1);
    expect(measured).toEqual([
      ...Array(2 + 4)
        .fill(['moves', 'a works'])
        .flat(),
      'a stops',
    ]);
  });

  it('fails where a program does', async () => {
    const suite = programSuite(
      program(async (_, { name }) => running(name, { stop: async () => Promise.reject(new Error('lost')) })),
    );
    await expect(suite.runTogether!(['a'], { quick: true }, 'slices')).rejects.toThrow('lost');
  });
});

it('each program runs on Node’s timers as its base, and on ours', () => {
  expect(programs.length).toBe(2);
  for (const { subjects } of programs) {
    expect(subjects[0].timers).toBe('node');
    expect(subjects.map(({ timers }) => timers)).toEqual(expect.arrayContaining(['node', 'inline']));
  }
});

it.each(programs.map((program) => [program.name, program] as const))(
  '%s: any part of the full size will do',
  async (_, program) => {
    for (const part of [0.1 * 0.005, 0.00123]) {
      const running = await program.start(part, program.subjects[0], undefined);
      const waits = new LatenessHistogram();
      expect(await running.work(waits)).toBeGreaterThan(0);
      running.move?.();
      await running.stop();
      expect(Number.isInteger(running.live)).toBe(true);
      expect(waits.count).toBeGreaterThan(0);
    }
  },
);

it('the scheduled map expires what it holds, each at its own time, and not what was set anew', async () => {
  const scheduler = createScheduler({ shards: 0, clock: 'manual' });
  const map = new ScheduledMap<string>(scheduler);
  map.set(1, 'short', 10);
  map.set(2, 'long', 20);
  map.set(3, 'cleared', 10);
  map.set(1, 'anew', 15);
  await scheduler.advanceTo(10);
  expect([map.get(1), map.get(2), map.get(3), map.size]).toEqual(['anew', 'long', undefined, 2]);
  await scheduler.advanceTo(15);
  expect([map.get(1), map.size]).toEqual([undefined, 1]);
  map.clear();
  expect([map.size, scheduler.size]).toEqual([0, 0]);
  await scheduler.close();
});

it('words speak of what holds in every round', () => {
  const spread = (least: number, most: number) => ({ median: (least + most) / 2, least, most });
  expect(wordsOf([spread(0.5, 0.9), spread(0.9, 1.1), spread(1.1, 1.2), undefined])).toBe(
    'less event-loop CPU; more p99',
  );
  expect(wordsOf([spread(0.94, 0.96), spread(1, 1.06), undefined, undefined])).toBe('no difference');
});
