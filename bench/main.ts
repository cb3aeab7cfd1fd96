#!/usr/bin/env node
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Comparison } from './engine/comparison.ts';
import { measureSuites } from './engine/measure-suites.ts';
import { type Options, parseOptions } from './engine/options.ts';
import { keepByRelease } from './engine/release-results.ts';
import { describeMachine, type Results } from './engine/results.ts';
import { resultsText } from './engine/results-file.ts';
import type { Suite } from './engine/suite.ts';
import { suiteTable, targetsTable } from './engine/tables.ts';
import { UsageError } from './replay/command-line.ts';
import { onNode, without } from './replay/node-release.ts';

const exitCodes = { wrong: 1, usage: 2, interrupted: 130 };

function measure(
  { quick, remark, rounds, suites }: Options,
  argv: readonly string[],
  signal: AbortSignal,
): Promise<Results> {
  // Where the results go does not change them, nor does what is said of them.
  const places = ['--json', '--by-release', '--remark'];
  const asked = argv.filter((word, at) => ![word, argv[at - 1]].some((each) => places.includes(each)));
  const quoted = asked.map((word) => (word.includes(' ') ? `"${word}"` : word));
  const command = ['npm run bench', ...(quoted.length > 0 ? ['--', ...quoted] : [])].join(' ');
  const onSuite = (suite: Suite, comparison: Comparison) => console.log(suiteTable(suite, comparison));
  return measureSuites({ suites, rounds, quick, command, remark, signal, onSuite });
}

/** Writes the results; answers with the files. */
function write(results: Results, { byRelease, json }: Options): string[] {
  const folder = fileURLToPath(new URL('../../bench/results/', import.meta.url));
  const file = json ?? `${folder}${results.date.replaceAll(':', '-').slice(0, 19)}.json`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, resultsText(results));
  if (byRelease === undefined) return [file];
  keepByRelease(byRelease, results);
  return [file, byRelease];
}

async function main(): Promise<number> {
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort());
  process.once('SIGTERM', () => interrupt.abort());
  try {
    const argv = process.argv.slice(2);
    const options = parseOptions(argv);
    if (options === undefined) return 0;
    if (options.node !== undefined) {
      const code = await onNode(options.node, [fileURLToPath(import.meta.url), ...without('--node', argv)]);
      if (code !== undefined) return code;
    }
    const results = await measure(options, argv, interrupt.signal);
    if (results.targets.length > 0) console.log(targetsTable(results.targets));
    if (options.quick) console.log('\nA quick run: sizes too small for the targets to mean anything.');
    console.log(`\n${results.rounds} rounds, ${results.seconds} s, on ${describeMachine(results.machine)}.`);
    console.log(`Written: ${write(results, options).join(', ')}`);
    return 0;
  } catch (error) {
    if (interrupt.signal.aborted) {
      console.error('interrupted');
      return exitCodes.interrupted;
    }
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof UsageError ? exitCodes.usage : exitCodes.wrong;
  }
}

process.exitCode = await main();
