import { fork } from 'node:child_process';
import { asPart, commandFile } from '../../../bench/replay/command-file.ts';
import type { ProfileData } from '../../../src/extras/profile/profile-data.ts';
import type { Calibration, TimerCosts } from '../../../src/extras/profile/report-data.ts';
import type { Assignment } from './measure-timers.ts';

const MIN_LIVE_TIMERS = 1000;
const MAX_LIVE_TIMERS = 500_000;
const DELAYS = 8;
/** ms until a measurement is given up. */
const PATIENCE = 30_000;

/**
 * Measures what timers cost on this machine, on the program's Node and with its peak of live timers: a second for each
 * kind. Rejects if that Node cannot be run.
 */
export async function calibrate({ peak, delays, process: { execPath } }: ProfileData): Promise<Calibration> {
  const live = Math.min(MAX_LIVE_TIMERS, Math.max(MIN_LIVE_TIMERS, peak.live));
  const used = delays.slice(0, DELAYS).map(({ delay }) => delay);
  const assignment = { live, delays: used.length > 0 ? used : [1000] };
  const node = await measured(execPath, { ...assignment, timers: 'node' });
  const shardwheel = await measured(execPath, { ...assignment, timers: 'shardwheel' });
  return { live, node, shardwheel };
}

function measured(execPath: string, assignment: Assignment): Promise<TimerCosts> {
  return new Promise((resolve, reject) => {
    const child = fork(commandFile, asPart('timer-costs', JSON.stringify(assignment)), {
      execPath,
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '', SHARDWHEEL_TIMERS: '' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      timeout: PATIENCE,
    });
    let costs: TimerCosts | undefined;
    child.on('message', (message) => {
      costs = message as TimerCosts;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (costs !== undefined) resolve(costs);
      else reject(new Error(`the measurement of ${assignment.timers} timers ended with ${signal ?? code}`));
    });
  });
}
