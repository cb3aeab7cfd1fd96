// Breaks one line at a time in a copy of the repository and runs the wheel's tests on it:
//   node test/wheel/mutation/run.mjs [part of a name]
// Prints a Markdown table of which test caught what; exits with 1 if anything got away. Takes some minutes.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutations } from './mutations.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'wheel-mutation-'));
const filter = process.argv[2] ?? '';
/** Milliseconds; many times what a suite takes. */
const PATIENCE = 120_000;
let escaped = 0;

for (const path of ['src', 'test/fixtures', 'test/wheel', 'package.json', 'tsconfig.json', 'vitest.config.ts']) {
  cpSync(join(root, path), join(copy, path), { recursive: true });
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

/** Quick suites first: most mutations do not live to see the others. */
const suites = [
  ['conformance', 'clock', 'parts', 'timer-records', 'slot-memory', 'presets', 'pinned3', 'monotone-queue'],
  ['cascading-index', 'random-scripts'],
  ['small-worlds'],
];

/** The full name of the first test that failed, or undefined. */
async function firstFailure() {
  for (const suite of suites) {
    const { report, status } = await run(suite.map((name) => `test/wheel/${name}.`));
    if (status === null) return 'the run does not end';
    if (status !== 0) return nameOf(report);
  }
  return undefined;
}

/** In a process group of its own: what spins in a test's worker must be ended with it. */
function run(files) {
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...files,
    '--bail=1',
    '--reporter=json',
    '--testTimeout=100000',
  ];
  const child = spawn(process.execPath, args, { cwd: copy, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  let report = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    report += text;
  });
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), PATIENCE);
  return new Promise((resolve) => {
    child.on('exit', (status) => {
      clearTimeout(timer);
      resolve({ report, status });
    });
  });
}

function nameOf(report) {
  try {
    const { testResults } = JSON.parse(report.slice(report.indexOf('{"')));
    const failed = testResults.flatMap((file) => file.assertionResults).find((result) => result.status === 'failed');
    return failed?.fullName.trim() ?? 'a test file does not load';
  } catch {
    return 'the run breaks off';
  }
}

if ((await firstFailure()) !== undefined) throw new Error('the tests must pass before anything is broken');
process.stdout.write('| broken | in | caught by |\n|---|---|---|\n');
for (const { name, file, from, to } of mutations.filter((mutation) => mutation.name.includes(filter))) {
  const path = join(copy, 'src/wheel', file);
  const source = readFileSync(path, 'utf8');
  if (source.split(from).length !== 2) throw new Error(`"${from}" must stand in ${file} exactly once`);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  const caught = await firstFailure();
  writeFileSync(path, source);
  if (caught === undefined) escaped++;
  process.stdout.write(`| ${name} | ${file} | ${caught ?? '**nothing**'} |\n`);
}
rmSync(copy, { recursive: true });
process.exitCode = escaped === 0 ? 0 : 1;
