import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';

const program = fileURLToPath(new URL('../fixtures/faults/short-memory.mjs', import.meta.url));

const isSlow = process.env.SHARDWHEEL_SLOW === '1';
const PROGRAMS = isSlow ? 400 : 14;
/** At a time. */
const BESIDE = 2;
/**
 * kB of address space beyond what Node takes before it does anything; a scheduler that is refused nothing takes some
 * 500,000.
 */
const [LEAST, MOST] = [170_000, 670_000];
/** Signals by which Node and V8 end a process that is refused memory, whatever they print: no code of ours can. */
const OF_NODE = ['SIGABRT', 'SIGBUS', 'SIGILL', 'SIGSEGV', 'SIGTRAP'];
/** Programs that are tried for one that V8 does not end, as it does where it cannot have its own. */
const TRIES = 6;

interface Report {
  accepted: number;
  refused: number;
  granted?: number;
  faults: string[];
}

/** What a program reports, which must end by itself; undefined if the limit has ended Node's own. */
function run(command: string, signal: AbortSignal): Promise<Report | undefined> {
  return new Promise((resolve, reject) => {
    execFile(
      '/bin/sh',
      ['-c', command],
      { signal, timeout: 240_000, killSignal: 'SIGKILL' }, // a busy machine takes 60 s for some
      (error, stdout, stderr) => {
        if (error === null) resolve(JSON.parse(stdout));
        else if (OF_NODE.includes(error.signal as string)) resolve(undefined);
        else if (/out of memory|process OOM|bad_alloc|FATAL ERROR/i.test(stderr)) resolve(undefined);
        else reject(new Error(`${command}: ${error.message}\n${stdout}\n${stderr}`));
      },
    );
  });
}

/** kB of address space that this Node takes at its most for an empty program. */
const ofNode = (signal: AbortSignal): Promise<number> => {
  const status = "require('node:fs').readFileSync('/proc/self/status', 'utf8')";
  const given = ['-p', `${status}.match(/VmPeak:\\s+(\\d+)/)[1]`];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, given, { signal }, (error, stdout) => (error ? reject(error) : resolve(Number(stdout))));
  });
};

/** Runs programs with the seeds from this run's until so many have reported, and returns what they report. */
async function hunt(
  wanted: number,
  commandOf: (seed: number, draws: Draws) => string,
  signal: AbortSignal,
): Promise<Report[]> {
  const draws = new Draws(SEED);
  const reports: Report[] = [];
  let number = 0;
  const next = async (): Promise<void> => {
    while (reports.length < wanted && number < TRIES * wanted) {
      const command = commandOf(SEED + number, draws);
      number += 1;
      const report = await run(command, signal);
      if (report === undefined) continue;
      expect({ command, faults: report.faults }).toEqual({ command, faults: [] });
      reports.push(report);
    }
  };
  await Promise.all(Array.from({ length: BESIDE }, next));
  return reports;
}

const accepted = (reports: Report[]): number => reports.reduce((sum, report) => sum + report.accepted, 0);

// By a ledger of the program's own: every timer that was accepted comes once and not early, or is handed back; no call
// throws but for memory or capacity; the process ends by itself.
describe(`every accepted timer comes, seed ${SEED}`, () => {
  test('where memory above a size is refused, for a while', { timeout: 600_000 }, async ({ signal }) => {
    const reports = await hunt(PROGRAMS, (seed) => `"${process.execPath}" "${program}" ${seed} refusing`, signal);
    expect(reports.length).toBeGreaterThanOrEqual(PROGRAMS);
    expect(accepted(reports)).toBeGreaterThan(1000);
  });

  test.runIf(process.platform === 'linux')('where address space is short', { timeout: 600_000 }, async ({ signal }) => {
    const least = (await ofNode(signal)) + LEAST;
    const limited = (seed: number, draws: Draws) =>
      `ulimit -c 0; ulimit -v ${least + draws.below(MOST - LEAST)}; exec "${process.execPath}" "${program}" ${seed}`;
    const reports = await hunt(PROGRAMS / 2, limited, signal);
    expect(reports.length).toBeGreaterThanOrEqual(PROGRAMS / 2);
    expect(accepted(reports)).toBeGreaterThan(1000);
  });
});
