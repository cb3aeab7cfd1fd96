import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { UsageError } from './command-line.ts';
import { forkReplay, type ReplayRun } from './fork-replay.ts';
import { onNode, without } from './node-release.ts';
import { type Options, parseOptions } from './options.ts';
import { ProgressLine } from './progress-line.ts';
import { type SubjectName, subjectTitles } from './replay-result.ts';
import { renderReport } from './report.ts';
import { costOf, isCorrect, remarksOn, type Summary } from './summary.ts';

const exitCodes = { wrong: 1, usage: 2, interrupted: 130 };

/** Runs the replays one after the other, each in a process of its own. */
async function replayAll(options: Options, signal: AbortSignal): Promise<Summary> {
  const line = new ProgressLine(process.stderr, options.cps);
  const replay = (name: SubjectName): Promise<ReplayRun> => {
    line.begin(subjectTitles[name]);
    return forkReplay(name, options, signal, (progress) => line.update(progress));
  };
  try {
    const driver = await replay('driver');
    const shardwheel = await replay('shardwheel');
    const native = options.native ? await replay('native') : undefined;
    return {
      options,
      machine: { node: process.version, cpus: availableParallelism(), model: cpus()[0]?.model.trim() ?? 'unknown CPU' },
      driver: driver.result,
      shardwheel: { ...shardwheel.result, cost: costOf(shardwheel.result, driver.result) },
      ...(native && { native: { ...native.result, cost: costOf(native.result, driver.result) } }),
      correct: isCorrect(shardwheel),
      remarks: remarksOn(driver, shardwheel, native),
    };
  } finally {
    line.end();
  }
}

/**
 * Runs the command, and returns its exit code. `name`: what it is called by, for its help. `program`: the file that it is run
 * by, with the arguments before its own, for another release of Node to run.
 */
export async function replayCommand(
  argv: readonly string[],
  name: string,
  program: readonly string[],
): Promise<number> {
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort());
  process.once('SIGTERM', () => interrupt.abort());
  try {
    const options = parseOptions(argv, name);
    if (options === undefined) return 0;
    if (options.node !== undefined) {
      const code = await onNode(options.node, [...program, ...without('--node', argv)]);
      if (code !== undefined) return code;
    }
    const summary = await replayAll(options, interrupt.signal);
    console.log(renderReport(summary));
    if (options.json !== undefined) {
      // Where the results go does not change them.
      writeFileSync(options.json, inLines({ ...summary, options: { ...options, json: undefined } }));
    }
    return summary.correct ? 0 : exitCodes.wrong;
  } catch (error) {
    if (interrupt.signal.aborted) {
      console.error('interrupted');
      return exitCodes.interrupted;
    }
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof UsageError ? exitCodes.usage : exitCodes.wrong;
  }
}

/** JSON with a line for each part. */
function inLines(summary: object): string {
  const parts = Object.entries(summary).filter(([, part]) => part !== undefined);
  return `{\n${parts.map(([name, part]) => `${JSON.stringify(name)}:${JSON.stringify(part)}`).join(',\n')}\n}\n`;
}
