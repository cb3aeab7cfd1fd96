#!/usr/bin/env node
// Holds what `npx shardwheel plan` predicts against the replay, which is another program, on the first 1, 2, 4 … cores.
//
//     npm run bench:plan -- [--cores 1,2] [--rounds 3] [--json file]      measures
//     npm run bench:plan -- --again file                                  predicts anew what was measured, and writes it there
//     npm run bench:plan -- --again file --beyond 32,64                   predicts for more cores, too
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { Costs, Service } from '../../tools/plan/costs.ts';
import { measureCosts } from '../../tools/plan/measure-costs.ts';
import type { Arrangement } from '../../tools/plan/simulation.ts';
import type { Summary } from '../../tools/replay/summary.ts';
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

const replay = fileURLToPath(new URL(`../../tools/replay/main${import.meta.url.slice(-3)}`, import.meta.url));
const say = (text: string): void => console.error(text);

const { values } = parseArgs({
  options: {
    cores: { type: 'string', default: availableParallelism() > 1 ? '1,2' : '1' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'string' },
    again: { type: 'string' },
    beyond: { type: 'string' },
  },
});
const file = values.again ?? values.json;
const read: PlanResults =
  values.again === undefined
    ? await measure(values.cores.split(',').map(Number), Number(values.rounds))
    : JSON.parse(readFileSync(values.again, 'utf8'));
const checks = read.checks.map((check): Check => {
  say(`predicting ${JSON.stringify(check.arrangement)}`);
  return { ...check, predicted: predict(read, check) };
});
const beyond = values.beyond?.split(',').map(Number).flatMap(arrangementsOn);
const results: PlanResults = {
  ...read,
  checks,
  ...(beyond && { beyond: beyond.map((each) => predictBeyond(read, each)) }),
};
if (file !== undefined) writeFileSync(file, textOf(results));
console.log(planFiguresOf(results));

async function measure(cores: readonly number[], rounds: number): Promise<PlanResults> {
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
        keep({ date, command, costs, costsNearMost, checks: checksOf(measured) });
      }
    }
    return { date, command, costs, costsNearMost, checks: checksOf(measured) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** After each replay, as the whole takes long. */
function keep(sofar: PlanResults): void {
  if (values.json !== undefined) writeFileSync(values.json, textOf(sofar));
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
  const own = service === 'native' ? [] : ['--no-native'];
  await promisify(execFile)('taskset', ['-c', `0-${cores - 1}`, process.execPath, replay, ...argv, ...own]);
  return JSON.parse(readFileSync(file, 'utf8'));
}

function measuredOf(service: Service, paced: Summary, most: Summary, loops: number): Measured {
  const of = (summary: Summary) => (service === 'native' ? summary.native! : summary.shardwheel);
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
