// Holds what `npx shardwheel plan` foretells against the replay, which is another program, on one core and on two.
//
//     npm run bench:plan -- [rounds] [file for the results]
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { highestRate, memoryOf } from '../../tools/plan/arrangements.ts';
import type { Costs, Service } from '../../tools/plan/costs.ts';
import { measureCosts } from '../../tools/plan/measure-costs.ts';
import { type PlannedLoad, proxyTimers } from '../../tools/plan/planned-load.ts';
import { type Arrangement, simulate } from '../../tools/plan/simulation.ts';
import type { Summary } from '../../tools/replay/summary.ts';
import { spreadOf } from '../statistics.ts';
import { type Check, type Figure, figures, type PlanResults } from './plan-check.ts';
import { planFiguresOf } from './plan-figures.ts';

const cps = 50_000;
/** s; short, so that all that will be live is so after a few of them. */
const lifetime = 1;
const seconds = 4;
/** A rate that nobody holds, and s of it; and one that is near to what is held, so that as many timers are live. */
const tooMany = 600_000;
const flood = 2;
const nearMost = 150_000;

const arrangements: readonly Arrangement[] = [
  { service: 'native', cores: 1, loops: 1, shards: 0 },
  { service: 'inline', cores: 1, loops: 1, shards: 0 },
  { service: 'shard', cores: 1, loops: 1, shards: 1 },
  { service: 'native', cores: 2, loops: 1, shards: 0 },
  { service: 'inline', cores: 2, loops: 1, shards: 0 },
  { service: 'shard', cores: 2, loops: 1, shards: 1 },
  { service: 'inline', cores: 2, loops: 2, shards: 0 },
  { service: 'shard', cores: 2, loops: 2, shards: 1 },
];

const load: PlannedLoad = { cps, timers: proxyTimers(lifetime * 1000) };

/** ms per connection of the driver alone: of its event loops, of what else runs in its process, and at the highest rate. */
type DriverCosts = Record<'work' | 'besideWork' | 'workAtMost', number>;
type Measured = Record<Figure, number> & DriverCosts;

const replay = fileURLToPath(new URL(`../../tools/replay/main${import.meta.url.slice(-3)}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'shardwheel-plan-'));

/** Replays on so many of this machine's first cores. Node's own timers have their turn in the same run as inline ones. */
async function replayOn(
  { cores, loops, service, shards }: Arrangement,
  rate: number,
  duration: number,
): Promise<Summary> {
  const file = join(folder, 'replay.json');
  const flags = { cps: rate, seconds: duration, drain: 1.5, lifetime, threads: loops, shards, json: file };
  const argv = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const own = service === 'inline' && loops === 1 ? [] : ['--no-native'];
  const list = cores === 1 ? '0' : `0-${cores - 1}`;
  await promisify(execFile)('taskset', ['-c', list, process.execPath, replay, ...argv, ...own]);
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

const isNativeOf = (arrangement: Arrangement, { cores, loops, service }: Arrangement): boolean =>
  service === 'native' &&
  arrangement.service === 'inline' &&
  arrangement.cores === cores &&
  arrangement.loops === loops;

/** What the driver takes is its work, and measured: the plan foretells what becomes of it with timers. */
function predict(measuredCosts: Costs, costsAtMost: Costs, arrangement: Arrangement, measured: readonly Measured[]) {
  const median = (key: keyof Measured) => spreadOf(measured.map((each) => each[key])).median;
  const costs = { ...measuredCosts, work: median('work') };
  const { busyCores, lateness, loopCpu } = simulate(load, costs, arrangement, 3000);
  const perConnection = 1e6 / cps;
  return {
    loop: loopCpu * arrangement.loops * perConnection,
    process: busyCores * perConnection + median('besideWork') * 1000,
    highest: highestRate(load, { ...costsAtMost, work: median('workAtMost') }, arrangement),
    ...lateness,
    memory: memoryOf(load, costs, arrangement) / 2 ** 20,
  } satisfies Record<Figure, number>;
}

const rounds = Number(process.argv[2] ?? 3);
const file = process.argv[3];
const say = (text: string): void => console.error(text);
try {
  const measure = (rate: number) =>
    measureCosts(
      { ...load, cps: rate },
      {
        loops: 1,
        rounds: rounds + 2,
        work: 0,
        signal: new AbortController().signal,
        onProgress: (done, all) => say(`costs at ${rate} connections per second: ${done} of ${all}`),
      },
    );
  const costs = await measure(cps);
  const costsAtMost = await measure(nearMost);
  const measured = arrangements.map((): Measured[] => []);
  for (let round = 1; round <= rounds; round++) {
    for (const [at, arrangement] of arrangements.entries()) {
      if (arrangement.service === 'native') continue;
      say(`round ${round} of ${rounds}: ${JSON.stringify(arrangement)}`);
      const paced = await replayOn(arrangement, cps, seconds);
      const most = await replayOn(arrangement, tooMany, flood);
      measured[at].push(measuredOf(arrangement.service, paced, most, arrangement.loops));
      const native = arrangements.findIndex((other) => isNativeOf(arrangement, other));
      if (native >= 0) measured[native].push(measuredOf('native', paced, most, arrangement.loops));
    }
  }
  const predictions = arrangements.map((arrangement, at) => predict(costs, costsAtMost, arrangement, measured[at]));
  const checks = (Object.keys(figures) as Figure[]).flatMap((figure) =>
    arrangements.map((arrangement, at): Check => {
      const spread = spreadOf(measured[at].map((each) => each[figure]));
      return { arrangement, figure, predicted: predictions[at][figure], measured: spread };
    }),
  );
  const date = new Date().toISOString().slice(0, 10);
  const command = `npm run bench:plan -- ${rounds}`;
  const results: PlanResults = { date, command, rounds, cps, lifetime, machine: costs.machine, checks };
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`);
  console.log(planFiguresOf(results));
} finally {
  rmSync(folder, { recursive: true });
}
