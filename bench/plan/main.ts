#!/usr/bin/env node
// Holds what `npx shardwheel plan` predicts against the replay, which is another program, on the first 1, 2, 4 … cores.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import type { Costs, Service } from '../../tools/plan/costs.ts';
import { measureCosts } from '../../tools/plan/measure-costs.ts';
import type { Arrangement } from '../../tools/plan/simulation.ts';
import { number, readFlags, UsageError } from '../replay/command-line.ts';
import type { Summary } from '../replay/summary.ts';
import {
  type Check,
  LIFETIME,
  loadOf,
  type Measured,
  NEAR_MOST,
  PER_LOOP,
  type PlanResults,
  predict,
  predictBeyond,
  rateOf,
} from './plan-check.ts';
import { planFiguresOf } from './plan-figures.ts';

/** s of the replay at the planned rate. A connection has all of its timers behind it after some two, so those that end later must be few. */
const PACED = 10;
/** s of arrivals at a rate that none holds: connections per second and loop, and all that a replay takes. It lasts up to twice as long. */
const FLOOD = 6;
const TOO_MANY = 450_000;
const ALL = 20_000_000;

const replay = fileURLToPath(new URL(`../../bench/replay/main${import.meta.url.slice(-3)}`, import.meta.url));
const say = (text: string): void => console.error(text);

interface Flags {
  readonly cores: number[];
  readonly rounds: number;
  readonly json?: string;
  readonly again?: string;
  readonly beyond?: number[];
}

const help = `
Examples:
  npm run bench:plan                                  measures on 1 and 2 cores
  npm run bench:plan -- --again file                  predicts anew what was measured, and writes it there
  npm run bench:plan -- --again file --beyond 32,64   predicts for more cores, too`;

/** Reads the flags. Returns undefined where `--help` was asked for and answered; throws UsageError. */
function parseFlags(argv: readonly string[]): Flags | undefined {
  const here = availableParallelism();
  const counts = (most: number) => (text: string) => text.split(',').map(number(1, most, { whole: true }));
  const command = new Command('npm run bench:plan --')
    .description('Holds what the plan predicts against replays on some cores of this machine.')
    .option('--cores <n,n>', 'the numbers of cores to measure on', counts(here), here > 1 ? [1, 2] : [1])
    .option('--rounds <n>', 'interleaved rounds', number(1, 100, { whole: true }), 3)
    .option('--json <file>', 'write the results there')
    .option('--again <file>', 'measure nothing: predict anew what this file has, and write it there')
    .option('--beyond <n,n>', 'numbers of cores to predict for that are not measured', counts(4096))
    .addHelpText('after', help);
  return readFlags(command, argv) ? command.opts<Flags>() : undefined;
}

async function main({ cores, rounds, json, again, beyond }: Flags): Promise<void> {
  const read: PlanResults =
    again === undefined ? await measure(cores, rounds, json) : JSON.parse(readFileSync(again, 'utf8'));
  const checks = read.checks.map((check): Check => {
    say(`predicting ${JSON.stringify(check.arrangement)}`);
    return { ...check, predicted: predict(read, check) };
  });
  const further = beyond?.flatMap(arrangementsOn).map((each) => predictBeyond(read, each));
  const results: PlanResults = { ...read, checks, ...(further && { beyond: further }) };
  const file = again ?? json;
  if (file !== undefined) writeFileSync(file, textOf(results));
  console.log(planFiguresOf(results));
}

async function measure(cores: readonly number[], rounds: number, json: string | undefined): Promise<PlanResults> {
  const folder = mkdtempSync(join(tmpdir(), 'shardwheel-plan-'));
  try {
    const command = `npm run bench:plan -- --cores ${cores.join(',')} --rounds ${rounds}`;
    const date = new Date().toISOString().slice(0, 10);
    const costs = await costsAt(PER_LOOP, rounds);
    const costsNearMost = await costsAt(NEAR_MOST, rounds);
    const arrangements = cores.flatMap(arrangementsOn);
    const measured = new Map(arrangements.map((arrangement) => [arrangement, [] as Measured[]]));
    for (let round = 1; round <= rounds; round++) {
      for (const arrangement of arrangements) {
        say(`round ${round} of ${rounds}: ${JSON.stringify(arrangement)}`);
        const paced = await replayOn(folder, arrangement, rateOf(arrangement), PACED);
        const most = await replayOn(folder, arrangement, tooMany(arrangement), FLOOD);
        measured.get(arrangement)!.push(measuredOf(arrangement.service, paced, most, arrangement.loops));
        const sofar = { date, command, costs, costsNearMost, checks: checksOf(measured) };
        if (json !== undefined) writeFileSync(json, textOf(sofar)); // after each replay, as the whole takes long
      }
    }
    return { date, command, costs, costsNearMost, checks: checksOf(measured) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function checksOf(measured: ReadonlyMap<Arrangement, readonly Measured[]>): Check[] {
  return [...measured].flatMap(([arrangement, rounds]) => (rounds.length === 0 ? [] : [{ arrangement, rounds }]));
}

/** A loop on each core; as many with shards on the cores that are left; and, on few cores, threads that share one. */
function arrangementsOn(cores: number): Arrangement[] {
  const native: Arrangement[] = cores <= 2 ? [{ service: 'native', cores, loops: 1, shards: 0 }] : [];
  const inline = [...new Set([cores <= 2 ? 1 : cores, cores])].map(
    (loops): Arrangement => ({ service: 'inline', cores, loops, shards: 0 }),
  );
  const shards = [1, cores / 8, cores / 4].filter((count) => count >= 1 && count < Math.max(2, cores));
  const served = [...new Set(shards)].map(
    (count): Arrangement => ({ service: 'shard', cores, loops: Math.max(1, cores - count), shards: count }),
  );
  const crowded: Arrangement[] = cores === 2 ? [{ service: 'shard', cores, loops: 2, shards: 1 }] : [];
  return [...native, ...inline, ...served, ...crowded];
}

const tooMany = ({ loops }: Arrangement): number => Math.min(loops * TOO_MANY, Math.floor(ALL / FLOOD));

function costsAt(cps: number, rounds: number): Promise<Costs> {
  const onProgress = (done: number, all: number) => say(`costs at ${cps} connections per second: ${done} of ${all}`);
  const { signal } = new AbortController();
  return measureCosts(loadOf(cps), { loops: 1, rounds: rounds + 1, work: 0, signal, onProgress });
}

/** Replays on so many of this machine's first cores. */
async function replayOn(folder: string, arrangement: Arrangement, cps: number, seconds: number): Promise<Summary> {
  const { cores, loops, service, shards } = arrangement;
  const file = join(folder, 'replay.json');
  const flags = { cps, seconds, drain: 1.5, lifetime: LIFETIME, threads: loops, shards, json: file };
  const argv = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const own = {
    native: [],
    inline: ['--no-native'],
    shard: ['--no-native', '--no-inline', '--loops', String(loops)],
  }[service];
  await promisify(execFile)('taskset', ['-c', `0-${cores - 1}`, process.execPath, replay, ...argv, ...own]);
  return JSON.parse(readFileSync(file, 'utf8'));
}

function measuredOf(service: Service, paced: Summary, most: Summary, loops: number): Measured {
  const column = ({ native: 'native', inline: 'shardwheel', shard: 'shards' } as const)[service];
  const of = (summary: Summary) => summary[column]!;
  const { connections, cpu, memory, verdict } = of(paced);
  return {
    loop: (cpu.thread * 1000) / connections,
    process: (cpu.process * 1000) / connections,
    highest: of(most).reached,
    p50: verdict.lateness.p50,
    p99: verdict.lateness.p99,
    memory: (memory.peak - memory.before - (paced.driver.memory.peak - paced.driver.memory.before)) / 2 ** 20,
    work: paced.driver.cpu.thread / paced.driver.connections,
    besideWork: (paced.driver.cpu.process - paced.driver.cpu.thread) / paced.driver.connections,
    workAtMost: (1000 * loops) / most.driver.reached,
  };
}

/** JSON with a line for each arrangement. */
function textOf({ checks, ...head }: PlanResults): string {
  const lines = Object.entries(head).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `{\n${lines.join(',\n')},\n"checks":[\n${checks.map((check) => JSON.stringify(check)).join(',\n')}\n]}\n`;
}

try {
  const flags = parseFlags(process.argv.slice(2));
  if (flags !== undefined) await main(flags);
} catch (error) {
  console.error(`error: ${(error as Error).message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
