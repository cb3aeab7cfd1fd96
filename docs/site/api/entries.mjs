/**
 * The entry points of the package: the name that programs import, the source and the page of each, what it is for, and which of the
 * names that several entries export its page tells. All others stand on the page of the first entry that exports them.
 */
export const entries = [
  { name: 'shardwheel', file: 'index', page: 'scheduler', about: 'The scheduler, for one thread or for many.' },
  {
    name: 'shardwheel/wheel',
    file: 'wheel',
    about: 'The wheels alone, for one thread: docs/guide.md#wheels-alone says which to choose.',
    tells: ['PresetName', 'WheelConfig'],
  },
  {
    name: 'shardwheel/timers',
    file: 'timers',
    about: 'The drop-in timers: docs/drop-in.md lists every difference from `node:timers`.',
    tells: ['createTimers', 'Timers', 'TimersOptions', 'MissedCalls', 'LongDelays'],
  },
  { name: 'shardwheel/timers/promises', file: 'timers-promises', about: 'The drop-in `node:timers/promises`.' },
  {
    name: 'shardwheel/register',
    file: 'register',
    about:
      '`node --import shardwheel/register` puts the drop-in timers in place of Node’s: docs/drop-in.md#a-whole-program-shardwheelregister.',
  },
  { name: 'shardwheel/prometheus', file: 'prometheus', about: 'Metrics for prom-client: docs/operate.md#prometheus.' },
  {
    name: 'shardwheel/opentelemetry',
    file: 'opentelemetry',
    about: 'Metrics for OpenTelemetry: docs/operate.md#opentelemetry.',
  },
  {
    name: 'shardwheel/dashboard',
    file: 'dashboard',
    about: 'A live page that shows a scheduler at work: docs/dashboard.md.',
  },
  { name: 'shardwheel/net', file: 'net', about: 'Limits of sockets, and their drain: docs/proxies.md.' },
  { name: 'shardwheel/durable', file: 'durable', about: 'Timers that outlive the process: docs/durable.md.' },
  {
    name: 'shardwheel/profile',
    file: 'profile',
    about: 'Records what Node’s own timers cost: docs/decide.md#profile-a-program.',
  },
].map((entry) => ({ page: entry.file, tells: [], ...entry }));

/** It has no calls, and so no page. */
export const worker = {
  name: 'shardwheel/worker',
  about:
    'The file that the shards’ threads run; it exports nothing. A bundler makes a file of it, and the option `workerUrl` names that file: docs/install.md#bundlers.',
};
