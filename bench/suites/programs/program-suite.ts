import { setImmediate as nextTurn } from 'node:timers/promises';
import { LatenessHistogram } from '../../../src/metrics/lateness-histogram.ts';
import { readMemory } from '../../engine/memory.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { CostMeter } from '../faces/cost-meter.ts';
import type { Program, ProgramSubject, RunningProgram } from './program.ts';
import { ProgramTimers } from './program-timers.ts';

/** Of the full size, until all code is compiled. */
const WARM_UP = 0.05;

const [TIME, MEMORY] = ['slices', 'memory'];

/** A whole program as a suite. */
export const programSuite = (program: Program): Suite => ({
  name: `programs ${program.name}`,
  title: `Programs: ${program.title}`,
  codes: ['m', 'programs'],
  about:
    `${program.about} All subjects in one process by turns, ${program.slices} slices each, to and fro; everything that the program ` +
    `does is in the figures, its clients included.${memoryNote(program)}`,
  base: program.subjects[0].name,
  subjects: program.subjects.map(({ name, note }) => ({ name, note })),
  figures: [
    { key: 'loop', title: `event-loop CPU per ${program.operation}`, unit: 'ns' },
    { key: 'process', title: `process CPU per ${program.operation}`, unit: 'ns' },
    { key: 'p99', title: `${program.wait}, p99`, unit: 'ms' },
    { key: 'longest', title: `${program.wait}, longest`, unit: 'ms' },
    ...(program.live === undefined ? [] : [{ key: 'bytes', title: `resident memory per ${program.live}`, unit: 'B' }]),
  ],
  parts: program.live === undefined ? [TIME] : [TIME, MEMORY],
  apart: [MEMORY],
  run: async (name, { quick }, part) => {
    const subject = program.subjects.find((known) => known.name === name)!;
    if (part === MEMORY) return memoryOf(program, subject, partOf(quick) * (program.memoryPart ?? 1));
    return (await slices(program, [subject], partOf(quick)))[0];
  },
  runTogether: (names, { quick }: Scale) =>
    slices(
      program,
      names.map((name) => program.subjects.find((known) => known.name === name)!),
      partOf(quick),
    ),
});

function memoryNote({ live, memoryPart = 1 }: Program): string {
  if (live === undefined) return '';
  const part = memoryPart === 1 ? '' : ` with ${memoryPart * 100} % of them`;
  return ` Memory: growth of a process of its own${part}, after garbage collection, for each ${live}.`;
}

const partOf = (quick: boolean): number => (quick ? 0.01 : 1);

/** The result of a subject over its slices. */
class Account {
  readonly timers: ProgramTimers;
  readonly meter = new CostMeter();
  readonly waits = new LatenessHistogram();
  operations = 0;

  constructor({ timers }: ProgramSubject) {
    this.timers = new ProgramTimers(timers);
  }

  start(program: Program, subject: ProgramSubject, part: number): Promise<RunningProgram> {
    return this.timers.run(() => program.start(part, subject, this.timers.scheduler));
  }

  stop(running: RunningProgram): Promise<void> {
    return this.timers.run(() => running.stop());
  }

  /** Like a slice, but not measured. */
  rehearse(running: RunningProgram): Promise<number> {
    return this.timers.run(() => {
      running.move?.();
      return running.work(new LatenessHistogram());
    });
  }

  /** Measures a program under load, on these timers. */
  async measure(running: RunningProgram): Promise<void> {
    await this.timers.run(async () => {
      running.move?.();
      await settle();
      this.meter.start();
      const operations = await running.work(this.waits);
      this.meter.stop();
      this.operations += operations;
    });
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
    for (const subject of subjects) await warmUp(program, subject, part);
    for (const { timers } of accounts.values()) await timers.ready();
    const kept = await keptOf(program, subjects, accounts, part);
    for (let slice = 0; slice < program.slices; slice++) {
      const order = slice % 2 === 0 ? subjects : [...subjects].reverse();
      for (const subject of order) {
        const account = accounts.get(subject)!;
        const running = kept ?? (await account.start(program, subject, part));
        await account.measure(running);
        if (kept === undefined) await account.stop(running);
        await settle();
      }
    }
    if (kept !== undefined) await accounts.get(subjects[0])!.stop(kept);
    return subjects.map((subject) => accounts.get(subject)!.measurement());
  } finally {
    for (const { timers } of accounts.values()) await timers.close();
  }
}

/** The program that serves all slices, where it can; each subject has had a slice of it that nobody measures. */
async function keptOf(
  program: Program,
  subjects: readonly ProgramSubject[],
  accounts: ReadonlyMap<ProgramSubject, Account>,
  part: number,
): Promise<RunningProgram | undefined> {
  if (program.isKept !== true) return undefined;
  const kept = await accounts.get(subjects[0])!.start(program, subjects[0], part);
  for (const subject of subjects) await accounts.get(subject)!.rehearse(kept);
  return kept;
}

async function memoryOf(program: Program, subject: ProgramSubject, part: number): Promise<Measurement> {
  await warmUp(program, subject, part);
  const account = new Account(subject);
  await account.timers.ready();
  await settle();
  const before = readMemory().resident;
  const running = await account.start(program, subject, part);
  await settle();
  const bytes = (readMemory().resident - before) / running.live;
  await account.stop(running);
  await account.timers.close();
  return { figures: { bytes }, checksums: {} };
}

/** Runs a small one, which is not measured. */
async function warmUp(program: Program, subject: ProgramSubject, part: number): Promise<void> {
  const account = new Account(subject);
  await account.timers.ready();
  const running = await account.start(program, subject, part * WARM_UP);
  await account.rehearse(running);
  await account.stop(running);
  await account.timers.close();
  await settle();
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  globalThis.gc?.();
}
