// What is run under which condition. A check is a suite of vitest behind a command, or a program of this folder.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, works } from './children.mjs';

const suites = ['guarantees', 'faults', 'threads', 'scheduler', 'timers'].map((name) => `test/${name}/`);
/** Seconds that the suites may take where they get little processor time. */
const PATIENCE = 1800;
const BUSY = 6;
/** Below this share of one core suites would take hours. */
const LEAST_SHARE = 0.05;

const program = (name, ...given) => [
  process.execPath,
  fileURLToPath(new URL(`${name}.mjs`, import.meta.url)),
  ...given.map(String),
];

/** Starts a command with niceness 19 beside busy processes, which end with it; of the niceness given. */
const besideBusy = (niceness, seconds) => {
  const busy = `nice -n ${niceness} "$0" "$1" ${seconds} &`;
  const [node, file] = program('busy');
  return ['sh', '-c', `${Array(BUSY).fill(busy).join(' ')} shift; exec nice -n 19 "$@"`, node, file];
};

/** What of a core a process of niceness 19 gets beside the busy ones; 0 where it cannot tell in time. */
async function shareBesideBusy() {
  const spin = `const from = performance.now();
    while (performance.now() - from < 3000);
    const { user, system } = process.cpuUsage();
    process.stdout.write(String((user + system) / 1000 / performance.now()));`;
  const { stdout } = await run([...besideBusy(0, 15), process.execPath, '-e', spin], { patience: 15 });
  return Number(stdout);
}

/** Runs a command of the shell's own, `ulimit`, before a program. */
const under = (limit, command) => ['sh', '-c', `ulimit ${limit} && exec "$@"`, 'sh', ...command];

const someUser = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups'];

const fakers = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib', '/usr/local/lib'].map(
  (folder) => `${folder}/faketime/libfaketimeMT.so.1`,
);

async function busyMachine(isQuick) {
  const share = await shareBesideBusy();
  const niceness = share < LEAST_SHARE ? 19 : 0;
  const percent = `${(share * 100).toFixed(1)} % of a core`;
  const note =
    niceness === 0
      ? `a process of niceness 19 gets ${percent} beside ${BUSY} busy ones`
      : `a process of niceness 19 gets ${percent} beside ${BUSY} busy ones: too little, so these take niceness 19 as well`;
  const files = isQuick ? ['1-never-early', '3-exactly-once'].map((name) => `test/guarantees/${name}.test.ts`) : suites;
  const patience = isQuick ? 240 : PATIENCE;
  const prefix = besideBusy(niceness, patience);
  const traffic = program('traffic', isQuick ? 5 : 20);
  return [
    { note },
    { name: 'traffic on two threads', command: [...prefix, ...traffic] },
    ...files.map((file) => ({ name: file, prefix, files: [file], patience })),
  ];
}

async function oneCore(isQuick) {
  if (!(await works(['taskset', '-c', '0', 'true']))) return [{ note: 'not possible here: taskset' }];
  const files = isQuick ? ['test/guarantees/3-exactly-once.test.ts', 'test/faults/blocked-loop'] : suites;
  const prefix = ['taskset', '-c', '0'];
  return files.map((file) => ({ name: file, prefix, files: [file], patience: PATIENCE }));
}

function fewFiles(isQuick) {
  const lives = isQuick
    ? [
        [1, 0],
        [2, 7],
        [2, 24],
      ]
    : [0, 2, 4, 5, 6, 8, 10, 14, 24].flatMap((left) => [
        [1, left],
        [2, left],
      ]);
  return lives.map(([shards, left]) => ({
    name: `${shards} shards, ${left} descriptors left`,
    command: under('-n 64', program('few-files', shards, left)),
  }));
}

async function littleMemory(isQuick) {
  if (!(await works(['prlimit', '--as=4294967296', 'true']))) return [{ note: 'not possible here: prlimit' }];
  const all = [
    { shards: 1, capacity: 'default', room: 40, outcome: 'refused' },
    { shards: 1, capacity: 1000, room: 100, outcome: 'served' },
    { shards: 2, capacity: 1000, room: 500, outcome: 'served' },
    { shards: 0, capacity: 'default', room: 40, outcome: 'refused' },
    { shards: 0, capacity: 1000, room: 60, outcome: 'served' },
    { shards: 1, capacity: 'default', room: 700, outcome: 'served' },
    { shards: 2, capacity: 'default', room: 120, outcome: 'refused' },
  ];
  return (isQuick ? all.slice(0, 3) : all).map(({ shards, capacity, room, outcome }) => ({
    name: `${shards} shards, capacity ${capacity}, ${room} MiB more: ${outcome}`,
    command: program('little-memory', shards, capacity, room, outcome),
  }));
}

async function noThreads(isQuick) {
  const isRoot = process.getuid() === 0;
  if (isRoot && !(await works([...someUser, ...program('no-threads', 'try')]))) {
    return [
      { note: 'not possible here: the superuser is exempt, and no other user can run this; test/faults simulates it' },
    ];
  }
  const numbers = isRoot ? (isQuick ? [0, 1] : [0, 1, 2, 4]) : [0];
  return numbers.map((more) => ({
    name: `${more} more threads`,
    command: [...(isRoot ? someUser : []), ...program('no-threads', more)],
  }));
}

const stops = (isQuick) =>
  (isQuick
    ? [[3, 600]]
    : [
        [12, 5000],
        [12, 600],
      ]
  ).map(([count, hangTimeout]) => ({
    name: `${count} stops, hangTimeout ${hangTimeout}`,
    command: program('stopped', count, hangTimeout),
    patience: 300,
  }));

async function movedClock(isQuick) {
  const checks = [];
  const faker = fakers.find(existsSync);
  if (faker === undefined) checks.push({ note: 'wall clock: not possible here, libfaketime is not installed' });
  else {
    const folder = mkdtempSync(join(tmpdir(), 'starved-'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'time');
    writeFileSync(file, '+0s\n');
    const env = {
      LD_PRELOAD: faker,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    checks.push({ name: 'the wall clock moves by hours and years', command: program('moved-clock'), env });
  }
  if (!(await works(['unshare', '--time', '--fork', 'true']))) {
    checks.push({ note: 'monotonic clock: not possible here, no namespace of time' });
    return checks;
  }
  const uptime = Math.floor(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]));
  const starts = {
    'the machine has just been started': 2 - uptime,
    'the machine has been up for 100 years': 3_153_600_000,
  };
  for (const [name, offset] of Object.entries(starts)) {
    const namespace = ['unshare', '--time', `--monotonic=${offset}`, `--boottime=${offset}`, '--fork'];
    checks.push({ name, command: [...namespace, ...program('traffic', isQuick ? 2 : 10)] });
  }
  return checks;
}

export const conditions = (isQuick) => [
  { name: 'few files', checks: () => fewFiles(isQuick) },
  { name: 'little memory', checks: () => littleMemory(isQuick) },
  { name: 'no threads', checks: () => noThreads(isQuick) },
  { name: 'stopped again and again', checks: () => stops(isQuick) },
  { name: 'clocks that move', checks: () => movedClock(isQuick) },
  { name: 'one core', checks: () => oneCore(isQuick) },
  { name: 'niceness 19 beside busy processes', checks: () => busyMachine(isQuick) },
];
