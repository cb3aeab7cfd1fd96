import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { number, readFlags, UsageError } from '../../bench/replay/command-line.ts';
import { printable, tellError } from '../../bench/replay/printable.ts';
import { requireWritable, writableFile } from '../../bench/replay/writable-file.ts';
import type { ProfileData } from '../../src/extras/profile/profile-data.ts';
import type { ReportData } from '../../src/extras/profile/report-data.ts';
import { calibrate } from './profile/calibrate.ts';
import { estimateOf, limits, verdictOf } from './profile/estimate.ts';
import { htmlReport } from './profile/html-report.ts';
import { readProfiles } from './profile/profile-files.ts';
import { RecordingLine } from './profile/recording-line.ts';
import { CommandError, onSignals, type ProgramEnd, runProgram } from './profile/run-program.ts';
import { terminalReport } from './profile/terminal-report.ts';

interface Flags {
  out: string;
  html: boolean;
  json?: string;
  seconds?: number;
  top: number;
  estimate: boolean;
  quiet?: boolean;
  read?: string;
}

const DAY = 86_400;
/** ms between two checks whether the threads have stopped recording, and how long that may take beyond their time. */
const CHECK_INTERVAL_MS = 100;
const PATIENCE = 3000;

function parse(argv: readonly string[]): { flags: Flags; words: string[] } | undefined {
  const command = new Command('npx shardwheel profile')
    .description("Measures what Node's own timers cost a program, and what it would gain from shardwheel.")
    .usage('[options] -- <command> [args...]')
    .argument('[command...]', 'any command; each Node process in it is recorded')
    .passThroughOptions()
    .option('--out <file>', 'the report as one HTML file', 'shardwheel-profile.html')
    .option('--no-html', 'no HTML file')
    .option('--json <file>', 'the report as JSON', writableFile)
    .option('--seconds <s>', 'record for this time; then report, and let the program go on', number(0.1, DAY))
    .option('--top <n>', 'rows of the tables in the terminal', number(1, 64, { whole: true }), 8)
    .option('--no-estimate', 'no measurement after the program (some seven seconds), and no estimate')
    .option('--quiet', 'no progress while the program runs')
    .option('--read <folder>', 'report on the data in a folder named by SHARDWHEEL_PROFILE_DIR, without a command');
  if (!readFlags(command, argv)) return undefined;
  const flags = command.opts<Flags>();
  const words = command.args;
  if (flags.read === undefined && words.length === 0) {
    throw new UsageError('no command to profile: npx shardwheel profile -- node app.js');
  }
  if (flags.html) requireWritable(flags.out);
  if (flags.read !== undefined && words.length > 0) throw new UsageError('--read takes no command');
  return { flags, words: [...words] };
}

/**
 * `npx shardwheel profile`: the program's exit code; 1 where no Node process has reported, 126 and 127 as shells have
 * them.
 */
export async function runProfile(argv: readonly string[]): Promise<number> {
  const parsed = parse(argv);
  if (parsed === undefined) return 0;
  const { flags, words } = parsed;
  if (flags.read !== undefined) {
    return (await report(readFolder(flags.read), flags.read, '', flags)) ? 0 : 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'shardwheel-profile-'));
  try {
    return await profile(words, folder, flags);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    tellError(error);
    return error.exitCode;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function profile(words: readonly string[], folder: string, flags: Flags): Promise<number> {
  const line = flags.quiet ? undefined : new RecordingLine(process.stderr, folder);
  const seconds = flags.seconds === undefined ? '' : String(flags.seconds);
  const running = runProgram(words, { SHARDWHEEL_PROFILE_DIR: folder, SHARDWHEEL_PROFILE_SECONDS: seconds });
  const command = words.join(' ');
  let end: ProgramEnd;
  let isReported = false;
  let hasEnded = false;
  // While the program runs, its own answer to a signal decides.
  const release = onSignals((signal) => {
    if (!hasEnded) return;
    rmSync(folder, { recursive: true, force: true });
    process.exit(128 + constants.signals[signal]);
  });
  try {
    const first = await Promise.race([running, stopped(folder, flags.seconds, running)]);
    line?.end();
    if (first === undefined) {
      isReported = await report(readProfiles(folder), command, '', flags);
      process.stderr.write('profile: recording is over, the program goes on\n');
    }
    end = await running;
    hasEnded = true;
    line?.end();
    isReported ||= await report(readProfiles(folder), command, end.how, flags);
    return isReported ? end.code : end.code || 1;
  } finally {
    line?.end();
    release();
  }
}

/** Resolves when all threads have recorded for the requested time, or should have. Never without a limit. */
async function stopped(folder: string, seconds: number | undefined, running: Promise<unknown>): Promise<undefined> {
  if (seconds === undefined) return new Promise(() => undefined);
  const over = new AbortController();
  const { signal } = over;
  running.then(
    () => over.abort(),
    () => over.abort(),
  );
  const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  await wait(seconds * 1000);
  const until = performance.now() + PATIENCE;
  const isRecording = ({ state }: ProfileData) => state === 'recording';
  while (!signal.aborted && performance.now() < until) {
    const found = readProfiles(folder);
    if (found.length > 0 && !found.some(isRecording)) break;
    await wait(CHECK_INTERVAL_MS);
  }
  return signal.aborted ? new Promise(() => undefined) : undefined;
}

function readFolder(folder: string): ProfileData[] {
  try {
    return readProfiles(folder);
  } catch (error) {
    throw new UsageError(`'${folder}' cannot be read: ${(error as Error).message}`);
  }
}

/** Prints and writes the report. Returns false if there is no data. */
async function report(found: readonly ProfileData[], command: string, end: string, flags: Flags): Promise<boolean> {
  if (found.length === 0) {
    process.stderr.write(
      `error: no Node process has reported. Is "${command}" a Node program? It must pass NODE_OPTIONS on, and run Node 20 (from 20.19), ` +
        '22 (from 22.12) or newer, for more than an instant.\n',
    );
    return false;
  }
  const data = await reportOn(found, command, end, flags);
  process.stdout.write(`\n${printable(terminalReport(data, flags.top))}\n`);
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(data, null, 2)}\n`);
  if (flags.html) writeFileSync(flags.out, htmlReport(data));
  const written = [flags.json, flags.html ? flags.out : undefined].filter((path) => path !== undefined);
  if (written.length > 0) process.stdout.write(`Written: ${written.join(', ')}\n`);
  return true;
}

async function reportOn(
  found: readonly ProfileData[],
  command: string,
  end: string,
  flags: Flags,
): Promise<ReportData> {
  const isCutOff = end !== '' && found.some(({ state }) => state === 'recording');
  const notes: string[] = isCutOff ? ['A thread was ended by force: what it did in its last second is missing.'] : [];
  const isWorthIt = flags.estimate && found[0].totals.created > 0;
  if (isWorthIt && !flags.quiet) process.stderr.write('profile: measuring timers on this machine …\n');
  const calibration = isWorthIt
    ? await calibrate(found[0]).catch((error: Error) => void notes.push(`There is no estimate: ${error.message}.`))
    : undefined;
  const loops = found.map((data) => {
    const estimate = calibration && estimateOf(data, calibration);
    return { data, estimate, verdict: verdictOf(data, estimate) };
  });
  const [{ model = 'unknown CPU' } = {}] = cpus();
  const machine = `${model.trim()}, ${availableParallelism()} CPUs`;
  return {
    date: new Date().toISOString(),
    command,
    end,
    machine,
    calibration: calibration ?? undefined,
    loops,
    limits: [...notes, ...limits],
  };
}
