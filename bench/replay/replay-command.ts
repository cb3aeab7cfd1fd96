import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { UsageError } from './command-line.ts';
import { forkReplay } from './fork-replay.ts';
import { onNode, without } from './node-release.ts';
import { type Options, parseOptions } from './options.ts';
import { tellError } from './printable.ts';
import { ProgressLine } from './progress-line.ts';
import { replayColumns, titleOf } from './replay-columns.ts';
import type { Progress } from './replay-result.ts';
import { renderReport } from './report.ts';
import { type ColumnRun, type Summary, summaryOf } from './summary.ts';

const exitCodes = { wrong: 1, usage: 2, interrupted: 130 };

/** Runs the replays one after the other, each in a process of its own: no column inherits another's heap. */
async function replayAll(options: Options, signal: AbortSignal, runReplay: typeof forkReplay): Promise<Summary> {
  const columns = replayColumns(options);
  const least = Math.ceil(columns.length * (options.seconds + options.drain));
  process.stderr.write(`${columns.length} replays, each in a process of its own, by turns: ${least} s and more\n`);
  const line = new ProgressLine(process.stderr, options.cps);
  const runs: ColumnRun[] = [];
  try {
    for (const column of columns) {
      line.begin(`${runs.length + 1}/${columns.length} ${titleOf(column)}`);
      const onProgress = (progress: Progress) => line.update(progress);
      runs.push({ column, run: await runReplay(column.subject, column.options, signal, onProgress) });
    }
  } finally {
    line.end();
  }
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU';
  return summaryOf(options, { node: process.version, cpus: availableParallelism(), model }, runs);
}

/**
 * Runs the command, and returns its exit code. `name`: what it is called by, for its help. `program`: the file that it
 * is run by, with the arguments before its own, for another release of Node to run. `runReplay`: what runs one column.
 */
export async function replayCommand(
  argv: readonly string[],
  name: string,
  program: readonly string[],
  runReplay: typeof forkReplay = forkReplay,
): Promise<number> {
  const interrupt = new AbortController();
  const abort = () => interrupt.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  try {
    const options = parseOptions(argv, name);
    if (options === undefined) return 0;
    if (options.node !== undefined) {
      const code = await onNode(options.node, [...program, ...without('--node', argv)]);
      if (code !== undefined) return code;
    }
    const summary = await replayAll(options, interrupt.signal, runReplay);
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
    tellError(error);
    return error instanceof UsageError ? exitCodes.usage : exitCodes.wrong;
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort);
  }
}

/** JSON with a line for each part. */
function inLines(summary: object): string {
  const parts = Object.entries(summary).filter(([, part]) => part !== undefined);
  const lines = parts.map(([name, part]) => `${JSON.stringify(name)}:${JSON.stringify(part)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}
