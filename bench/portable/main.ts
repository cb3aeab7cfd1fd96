#!/usr/bin/env node
// Measures what is portable, by the same words as `npm run bench`, and writes the same results.
import { parseArgs } from 'node:util';
import { measureSuites } from '../engine/measure-suites.ts';
import { keepByRelease } from '../engine/release-results.ts';
import { select } from '../engine/selection.ts';
import { portableSuites } from './portable-suites.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    'by-release': { type: 'string' },
  },
});
const { quick, rounds, 'by-release': file } = values;
const suites = select(portableSuites, positionals);
if (file === undefined || positionals.length === 0 || suites.length === 0 || !(Number(rounds) >= 1)) {
  console.error('main.js --by-release <file> [--rounds <n>] [--quick] <words that pick suites>');
  process.exit(2);
}

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
const words = [...positionals, ...(quick ? ['--quick'] : []), '--rounds', rounds];
const results = await measureSuites({
  suites,
  quick,
  rounds: Number(rounds),
  command: `npm run bench -- ${words.join(' ')}`,
  signal: interrupt.signal,
});
keepByRelease(file, results);
console.log(`${results.seconds} s. Written: ${file}`);
