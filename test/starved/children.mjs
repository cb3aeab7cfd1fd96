// The processes that the conditions are tried on. Each is the leader of a session, so that its niceness counts among those it
// stands beside, and so that all that it starts can be ended with it.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
const running = new Set();

function endGroup(leader) {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {} // all of it is gone
}

export const endAll = () => running.forEach(endGroup);

/** Resolves when the process has ended, or was ended because `patience` seconds were over. */
export function run([command, ...given], { env = {}, patience = 120 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, given, {
      cwd: root,
      detached: true,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr, isLate] = ['', '', false];
    if (child.pid !== undefined) running.add(child.pid);
    const end = () => {
      if (child.pid === undefined) return;
      endGroup(child.pid);
      running.delete(child.pid);
    };
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, patience * 1000);
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.once('error', (error) => {
      stderr += error.message;
    });
    child.once('exit', end); // whoever it has left behind may hold its pipes
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr, isLate });
    });
  });
}

/** Whether a command can be run here. */
export const works = async (command) => (await run(command, { patience: 10 })).code === 0;

const tail = (text) => text.trim().split('\n').slice(-4).join(' | ').slice(-600);

/** A program of this folder, which prints { faults, notes }. */
export async function runProgram({ command, env, patience }) {
  const { code, signal, stdout, stderr, isLate } = await run(command, { env, patience });
  if (isLate) return { passed: 0, failures: [`not at its end after ${patience ?? 120} s: ${tail(stdout + stderr)}`] };
  let found;
  try {
    found = JSON.parse(stdout.trim().split('\n').at(-1));
  } catch {
    return { passed: 0, failures: [`ended by ${signal ?? code}: ${tail(stdout + stderr)}`] };
  }
  const faults = code === 0 || found.faults.length > 0 ? found.faults : [`ended by ${signal ?? code}: ${tail(stderr)}`];
  return faults.length > 0 ? { passed: 0, failures: [faults.slice(0, 5).join('; ')] } : { passed: 1, failures: [] };
}

/** Test files of vitest, behind a command that starts them under some condition. */
export async function runSuites({ prefix, files, patience }) {
  const folder = mkdtempSync(join(tmpdir(), 'starved-'));
  const output = join(folder, 'report.json');
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...files,
    '--testTimeout=600000',
    '--hookTimeout=600000',
    '--teardownTimeout=60000',
    '--reporter=json',
    `--outputFile=${output}`,
  ];
  const { stdout, stderr, isLate } = await run([...prefix, process.execPath, ...vitest], { patience });
  try {
    if (isLate) return { passed: 0, failures: [`not at its end after ${patience} s`] };
    const report = JSON.parse(readFileSync(output, 'utf8'));
    const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
      const failed = assertionResults.filter((test) => test.status === 'failed');
      if (status === 'failed' && failed.length === 0) return [`${name.replace(root, '')}: ${tail(message)}`];
      return failed.map(
        (test) => `${name.replace(root, '')} > ${test.fullName}: ${tail(test.failureMessages[0] ?? '').slice(0, 300)}`,
      );
    });
    return { passed: report.numPassedTests, failures };
  } catch {
    return { passed: 0, failures: [`no report: ${tail(stdout + stderr)}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
