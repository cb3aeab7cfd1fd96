import { setImmediate as nextTurn } from 'node:timers/promises';
import { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import { CostMeter } from '../faces/cost-meter.ts';
import { readMemory } from '../memory.ts';
import type { Measurement, Scale, Suite } from '../suite.ts';
import type { Program, ProgramSubject } from './program.ts';
import { ProgramTimers } from './program-timers.ts';

/** Slices of each subject in a process; each is a program that is begun anew. */
const SLICES = 2;
/** Of the full size, until all code is compiled. */
const WARM_UP = 0.05;

const [TIME, MEMORY] = ['slices', 'memory'];

/** A whole program as a suite. */
export const programSuite = (program: Program): Suite => ({
  name: `programs ${program.name}`,
  title: `Programs: ${program.title}`,
  codes: ['m', 'programs'],
  about:
    `${program.about} All subjects in one process by turns, ${SLICES} slices each, to and fro; everything that the program does is ` +
    `in the figures, its clients included. Memory: growth of a process of its own, after garbage collection, for each ${program.live}.`,
  base: program.subjects[0].name,
  subjects: program.subjects.map(({ name, note }) => ({ name, note })),
  figures: [
    { key: 'loop', title: `event-loop CPU per ${program.operation}`, unit: 'ns' },
    { key: 'process', title: `process CPU per ${program.operation}`, unit: 'ns' },
    { key: 'p99', title: `${program.wait}, p99`, unit: 'ms' },
    { key: 'longest', title: `${program.wait}, longest`, unit: 'ms' },
    { key: 'bytes', title: `resident memory per ${program.live}`, unit: 'B' },
  ],
  parts: [TIME, MEMORY],
  apart: [MEMORY],
  run: async (name, { quick }, part) => {
    const subject = program.subjects.find((known) => known.name === name)!;
    if (part === MEMORY) return memoryOf(program, subject, partOf(quick));
    return (await slices(program, [subject], partOf(quick)))[0];
  },
  runTogether: (names, { quick }: Scale) =>
    slices(
      program,
      names.map((name) => program.subjects.find((known) => known.name === name)!),
      partOf(quick),
    ),
});

const partOf = (quick: boolean): number => (quick ? 0.01 : 1);

/** What a subject has come to over its slices. */
class Account {
  readonly timers: ProgramTimers;
  readonly meter = new CostMeter();
  readonly waits = new LatenessHistogram();
  operations = 0;

  constructor({ timers }: ProgramSubject) {
    this.timers = new ProgramTimers(timers);
  }

  /** A slice: the program is begun, is measured under load, and ends. */
  async slice(program: Program, subject: ProgramSubject, part: number, measures = true): Promise<void> {
    await this.timers.run(async () => {
      const running = await program.start(part, subject, this.timers.scheduler);
      await settle();
      if (measures) this.meter.start();
      const operations = await running.work(measures ? this.waits : new LatenessHistogram());
      if (measures) this.meter.stop();
      if (measures) this.operations += operations;
      await running.stop();
    });
    await settle();
  }

  measurement(): Measurement {
    const { thread, process } = this.meter.each(this.operations);
    const { max, p99 } = this.waits.summary();
    return {
      figures: { loop: thread, process, p99, longest: max },
      checksums: { operations: this.operations },
    };
  }
}

async function slices(program: Program, subjects: readonly ProgramSubject[], part: number): Promise<Measurement[]> {
  const accounts = new Map(subjects.map((subject) => [subject, new Account(subject)]));
  try {
    for (const [subject, account] of accounts) {
      await account.timers.ready();
      await account.slice(program, subject, part * WARM_UP, false);
    }
    for (let slice = 0; slice < SLICES; slice++) {
      const order = slice % 2 === 0 ? subjects : [...subjects].reverse();
      for (const subject of order) await accounts.get(subject)!.slice(program, subject, part);
    }
    return subjects.map((subject) => accounts.get(subject)!.measurement());
  } finally {
    for (const { timers } of accounts.values()) await timers.close();
  }
}

async function memoryOf(program: Program, subject: ProgramSubject, part: number): Promise<Measurement> {
  const account = new Account(subject);
  await account.timers.ready();
  await account.slice(program, subject, part * WARM_UP, false);
  const before = readMemory().resident;
  const bytes = await account.timers.run(async () => {
    const running = await program.start(part, subject, account.timers.scheduler);
    await settle();
    const growth = readMemory().resident - before;
    await running.stop();
    return growth / running.live;
  });
  await account.timers.close();
  return { figures: { bytes }, checksums: {} };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  globalThis.gc?.();
}
