#!/usr/bin/env node
// Runs suites and small programs where the machine gives little: node test/starved/run.mjs [--quick] [part of a name].
// One condition after the other: little processor time, one core, few files, little memory, no threads, stops, a wall clock
// that moves. Prints what passed and failed under each, and at the end the failed tests by name; exits with 1 if there are
// any. --quick takes less than 4 minutes on 2 cores, and says what it leaves out to do so. What the machine does not let us do
// is said, and fails nothing.

import { endAll, runProgram, runSuites } from './children.mjs';
import { conditions } from './conditions.mjs';

const words = process.argv.slice(2);
const isQuick = words.includes('--quick');
const filter = words.find((word) => !word.startsWith('--')) ?? '';
/** ms after which --quick begins nothing more. */
const ENOUGH = 180_000;
const failures = [];
let [passed, failed] = [0, 0];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));
process.on('exit', endAll);

const print = (text) => process.stdout.write(`${text}\n`);

for (const { name, checks } of conditions(isQuick)) {
  if (!name.includes(filter)) continue;
  const began = performance.now();
  const counts = { passed: 0, failed: 0 };
  print(`\n${name}`);
  for (const check of await checks()) {
    if (check.note !== undefined) {
      print(`  ${check.note}`);
      continue;
    }
    const from = performance.now();
    if (isQuick && from > ENOUGH) {
      print(`  ${check.name}: left out, for want of time`);
      continue;
    }
    const result = check.files === undefined ? await runProgram(check) : await runSuites(check);
    counts.passed += result.passed;
    counts.failed += result.failures.length;
    failures.push(...result.failures.map((failure) => `${name}: ${check.name}: ${failure}`));
    const seconds = ((performance.now() - from) / 1000).toFixed(1);
    print(`  ${check.name}: ${result.passed} passed, ${result.failures.length} failed, ${seconds} s`);
    for (const failure of result.failures) print(`    ${failure}`);
  }
  passed += counts.passed;
  failed += counts.failed;
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  print(`  ${name}: ${counts.passed} passed, ${counts.failed} failed, ${seconds} s in all`);
}

if (failures.length > 0) print(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}`);
print(`\n${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
