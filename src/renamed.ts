import { RenamedError } from './errors.ts';

/** What has become of the calls of a scheduler before 1.0. */
const OF_SCHEDULER = {
  timeout: 'use scheduler.withTimeout(work, delay, options)',
  timers: 'use scheduler.liveTimers()',
  interval:
    'use scheduler.statsInterval() for counts, scheduler.scheduleEvery(hint, period, callback) for a repeating timer',
  setScale: 'use scheduler.label(name, { min }).setScale(factor)',
  withSlack: 'use scheduler.label(name, { slack }), whose calls start timers with that slack',
  callSites: "use 'npx shardwheel profile -- node app.js', which shows where timers are set",
};

const OF_LABEL = { group: 'give the group as hint: label.schedule(scheduler.group(hint), deadline, …)' };

const OF_THREADS = ['execArgv', 'env', 'workerUrl', 'resourceLimits', 'hangTimeout', 'inlineAfter'];

/** The options of `createScheduler` before 1.0, and what has become of them. */
export const RENAMED_OPTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(OF_THREADS.map((name) => [name, `it is now options.thread.${name}`])),
  totalCapacity: 'use options.capacity, of each shard: hints spread timers evenly',
  trace: "use 'npx shardwheel profile -- node app.js', which shows where timers are set",
};

export const RENAMED_WAIT_OPTIONS = { slack: 'use options.label, of a label with that slack' };

export const OLD_CALLS: readonly string[] = Object.keys(OF_SCHEDULER);

/** Lets each old name throw an error that names the new one, for programs that no compiler checks. */
export function refuseOldNames(scheduler: object, label: object): void {
  for (const [name, now] of Object.entries(OF_SCHEDULER)) refuse(scheduler, name, `scheduler.${name}()`, now);
  for (const [name, now] of Object.entries(OF_LABEL)) refuse(label, name, `label.${name}()`, now);
  Object.defineProperty(label, 'label', {
    get: () => {
      throw new RenamedError('label.label', 'use label.name');
    },
  });
}

function refuse(prototype: object, name: string, old: string, now: string): void {
  const value = () => {
    throw new RenamedError(old, now);
  };
  Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
}
