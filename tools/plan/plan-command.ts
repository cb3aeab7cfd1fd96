import { writeFileSync } from 'node:fs';
import { advise } from './advice.ts';
import { type Candidate, candidates, type PlanRequest, titleOf } from './arrangements.ts';
import type { Costs } from './costs.ts';
import { measureCosts } from './measure-costs.ts';
import { type PlanOptions, parsePlanOptions } from './plan-options.ts';
import { renderPlan } from './plan-report.ts';
import { readCosts, remarkOnLive } from './saved-costs.ts';
import { StepLine } from './step-line.ts';

const interrupted = 130;

/** `npx shardwheel plan`: measures, simulates, and says what to take. */
export async function runPlan(argv: readonly string[]): Promise<number> {
  const options = parsePlanOptions(argv);
  if (options === undefined) return 0;
  const { cores, cps, loops, memory, timers } = options;
  const request: PlanRequest = { load: { cps, timers }, loops, cores, ...(memory !== undefined && { memory }) };
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const costs = await costsFor(request, options, interrupt.signal);
    const progress = new StepLine(process.stderr);
    const all: Candidate[] = [];
    for (const candidate of candidates(request, costs)) {
      all.push(candidate);
      progress.show(`simulated ${titleOf(candidate.arrangement)}`);
      await new Promise((resolve) => setImmediate(resolve)); // a signal is heard
      interrupt.signal.throwIfAborted();
    }
    progress.end();
    const advice = advise(request, costs, all);
    const remark = remarkOnLive(costs, request.load, loops);
    console.log(renderPlan(request, costs, all, advice));
    if (remark !== undefined) console.log(`! ${remark}`);
    if (options.json !== undefined) writeJson(options.json, { request, costs, candidates: all, advice });
    return 0;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    process.stderr.write('interrupted\n');
    return interrupted;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

async function costsFor(request: PlanRequest, options: PlanOptions, signal: AbortSignal): Promise<Costs> {
  const { loops, load } = request;
  const { costs: file, rounds, saveCosts, work } = options;
  if (file !== undefined) {
    const costs = readCosts(file, load);
    return work === undefined ? costs : { ...costs, work, isWorkMeasured: false };
  }
  const progress = new StepLine(process.stderr);
  const onProgress = (done: number, all: number): void => progress.show(`measuring ${done} of ${all} …`);
  const measured = measureCosts(load, { loops, rounds, signal, onProgress, ...(work !== undefined && { work }) });
  const costs = await measured.finally(() => progress.end());
  if (saveCosts !== undefined) writeJson(saveCosts, costs);
  return costs;
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
