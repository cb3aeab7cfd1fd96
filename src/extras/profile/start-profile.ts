import { join, resolve } from 'node:path';
import { InvalidConfigError } from '../../errors.ts';
import { makeFolder } from '../../make-folder.ts';
import { process } from '../../process.ts';
import { isShardThread, requireNode } from '../../runtime.ts';
import { type RegistrationState, registered, setInterval } from '../../time/native-timers.ts';
import { clock } from './call-times.ts';
import { operationsOf } from './delay-counts.ts';
import { instrument } from './instrument.ts';
import type { ProfileData } from './profile-data.ts';
import { Recorder } from './recorder.ts';
import { shortReport } from './short-report.ts';

const { renameSync, writeFileSync, writeSync } = process.getBuiltinModule('node:fs');

/**
 * Returns what writes one thread's data to its file, in a folder that is created if it is missing, and that stays the
 * same when the program changes its working folder. Each write replaces the file, and returns whether it could be
 * written; after a failure it is not tried again.
 */
function writingTo(named: string): (data: ProfileData) => boolean {
  let folder = absolute(named);
  return (data) => {
    if (folder === undefined) return false;
    const path = join(folder, `${data.process.pid}-${data.process.thread}.json`);
    try {
      makeFolder(folder);
      writeFileSync(`${path}.part`, JSON.stringify(data));
      renameSync(`${path}.part`, path);
    } catch {
      folder = undefined; // a folder that is full or gone must not disturb the program
    }
    return folder !== undefined;
  };
}

function absolute(folder: string): string | undefined {
  try {
    return resolve(folder);
  } catch {
    return undefined; // the working folder has gone
  }
}

/** ms between two points of the curves. */
const POINT_MS = 250;
/**
 * Points between two writes of the data and renewals of the sample budgets: a second. A program that a signal ends
 * writes nothing more, so its report lacks at most this. A write takes about a ms.
 */
const ROUND = 4;

/** This thread's profile, while it records and after. */
export interface RunningProfile {
  snapshot(): ProfileData;
  stop(): ProfileData;
}

/** The key of this thread's profile, known to every copy of this package in the thread. */
const PROFILE = Symbol.for('shardwheel.profile');
const thread = globalThis as { [PROFILE]?: RunningProfile | undefined };

/**
 * Starts recording in this thread, once, unless it is a shard's or its timers are not Node's. `SHARDWHEEL_PROFILE_DIR`:
 * a folder for the data of each thread; without it a short report goes to stderr at the end.
 * `SHARDWHEEL_PROFILE_SECONDS`: how long to record. Throws InvalidConfigError for an invalid number of seconds.
 */
export function startProfile(): RunningProfile | undefined {
  requireNode('shardwheel/profile', 'profile the program on Node.js');
  if (thread[PROFILE] !== undefined || isShardThread()) return thread[PROFILE];
  const { SHARDWHEEL_PROFILE_DIR: folder = '', SHARDWHEEL_PROFILE_SECONDS: seconds = '' } = process.env;
  const limit = secondsOf(seconds);
  const state = registered()?.state();
  if (state !== undefined) return refuse(`this thread is registered: ${whoServes(state)}`);
  const recorder = new Recorder();
  const write = folder === '' ? undefined : writingTo(folder);
  let points = 0;
  const tick = (): void => {
    const begun = clock();
    recorder.point();
    points += 1;
    if (points % ROUND === 0) recorder.renewBudgets();
    // Also at the first one: so a program that ends within a second has a report.
    if (points % ROUND === 0 || points === 1) write?.(recorder.data());
    if (points * POINT_MS >= limit * 1000) stop();
    recorder.leaveOut(clock() - begun);
  };
  // Before the thread's functions are replaced: the recorder also counts it as Node's own.
  const ticks = setInterval(tick, POINT_MS).unref();
  const restore = instrument(recorder);
  if (restore === undefined) {
    ticks.close();
    return refuse(`the timers of Node ${process.version} are made in a way that it does not know`);
  }
  const stop = (): ProfileData => {
    recorder.stop();
    restore(); // first, or the closing of our own timer would count
    ticks.close();
    write?.(recorder.data());
    return recorder.data();
  };
  process.on('exit', () => {
    const data = recorder.data('ended');
    if (write?.(data) !== true && operationsOf(data.totals) > 0) say(shortReport(data));
  });
  const running = { snapshot: () => recorder.data(), stop };
  Object.defineProperty(thread, PROFILE, { value: running, configurable: true });
  return running;
}

function secondsOf(text: string): number {
  if (text === '') return Number.POSITIVE_INFINITY;
  const seconds = Number(text);
  if (seconds > 0) return seconds;
  throw new InvalidConfigError('SHARDWHEEL_PROFILE_SECONDS', 'must be a number of seconds above 0', text);
}

function refuse(reason: string): undefined {
  say(`shardwheel/profile records nothing: ${reason}.\n`);
}

/** Writes at once, whatever ends the process next. */
function say(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // stderr is closed or full
  }
}

/** Who serves the timers of a registered thread, since when and why. */
const whoServes = ({ serving, since, reason, live }: RegistrationState): string => {
  const who = serving === 'wheel' ? 'the wheel serves' : "Node's own timers serve";
  return `${who} since ${(since / 1000).toFixed(1)} s (${reason}), and about ${live} are live`;
};
