import { writeSync } from 'node:fs';
import process from 'node:process';
import { InvalidConfigError } from '../errors.ts';
import { isShardThread } from '../hosts/shard-thread-mark.ts';
import { registration, setInterval } from '../time/native-timers.ts';
import { clock } from './call-times.ts';
import { DataFile } from './data-file.ts';
import { operationsOf } from './delay-counts.ts';
import { instrument } from './instrument.ts';
import type { ProfileData } from './profile-data.ts';
import { Recorder } from './recorder.ts';
import { shortReport } from './short-report.ts';

/** ms between two points of the curves. */
const POINT = 250;
/** Points until the data is written and the budgets of samples begin again: a second. */
const ROUND = 4;
/** Of the loop's busy time: what writing may take of it, unless nothing was written for so many rounds. */
const SHARE_FOR_WRITING = 0.004;
const MOST_ROUNDS = 5;

/** What this thread's profile says, while it records and after. */
export interface RunningProfile {
  snapshot(): ProfileData;
  stop(): ProfileData;
}

/** Where a profile of this thread is found: known to every copy of this package in the thread. */
const PROFILE = Symbol.for('shardwheel.profile');
const thread = globalThis as { [PROFILE]?: RunningProfile | undefined };

/**
 * Starts recording in this thread, once, unless it is a shard's or its timers are not Node's. `SHARDWHEEL_PROFILE_DIR`: a
 * folder for the data of each thread; without it a short report goes to stderr at the end. `SHARDWHEEL_PROFILE_SECONDS`: how
 * long to record. Throws InvalidConfigError for a number of seconds that is none.
 */
export function startProfile(): RunningProfile | undefined {
  if (thread[PROFILE] !== undefined || isShardThread()) return thread[PROFILE];
  const { SHARDWHEEL_PROFILE_DIR: folder = '', SHARDWHEEL_PROFILE_SECONDS: seconds = '' } = process.env;
  const limit = secondsOf(seconds);
  if (registration() !== undefined) return refuse("this thread's timers are shardwheel's already");
  const recorder = new Recorder();
  const file = folder === '' ? undefined : new DataFile(folder);
  const writing = file && new Writing(file);
  let rounds = 0;
  const tick = (): void => {
    const begun = clock();
    recorder.point();
    rounds += 1;
    if (rounds % ROUND === 0) {
      recorder.renewBudgets();
      writing?.perhaps(recorder);
    }
    if (rounds * POINT >= limit * 1000) stop();
    recorder.leaveOut(clock() - begun);
  };
  // Before the thread's functions are replaced: it is Node's own for the recorder, too.
  const ticks = setInterval(tick, POINT).unref();
  const restore = instrument(recorder);
  if (restore === undefined) {
    ticks.close();
    return refuse(`the timers of Node ${process.version} are made in a way that it does not know`);
  }
  const stop = (): ProfileData => {
    ticks.close();
    recorder.stop();
    restore();
    file?.write(recorder.data());
    return recorder.data();
  };
  process.on('exit', () => {
    const data = recorder.data('ended');
    if (file?.write(data) !== true && operationsOf(data.totals) > 0) say(shortReport(data));
  });
  const running = { snapshot: () => recorder.data(), stop };
  Object.defineProperty(thread, PROFILE, { value: running, configurable: true });
  return running;
}

/** Writes the data now and then: each second where the loop has much to do, and so the writing does not show. */
class Writing {
  private readonly file: DataFile;
  private cost = 0;
  private busyBefore = 0;
  private rounds = 0;

  constructor(file: DataFile) {
    this.file = file;
  }

  perhaps(recorder: Recorder): void {
    const { busy } = recorder;
    this.rounds += 1;
    if (this.cost > SHARE_FOR_WRITING * (busy - this.busyBefore) && this.rounds < MOST_ROUNDS) return;
    const begun = clock();
    this.file.write(recorder.data());
    this.cost = clock() - begun;
    this.busyBefore = busy;
    this.rounds = 0;
  }
}

/** The profile that runs in this thread, or has run. */
export const runningProfile = (): RunningProfile | undefined => thread[PROFILE];

function secondsOf(text: string): number {
  if (text === '') return Number.POSITIVE_INFINITY;
  const seconds = Number(text);
  if (seconds > 0) return seconds;
  throw new InvalidConfigError('SHARDWHEEL_PROFILE_SECONDS', 'must be a number of seconds above 0', text);
}

function refuse(reason: string): undefined {
  say(`shardwheel/profile records nothing: ${reason}.\n`);
}

/** At once, whatever ends the process next. */
function say(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // nobody reads: stderr is closed or full
  }
}
