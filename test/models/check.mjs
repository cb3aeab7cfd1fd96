// Checks the models of this folder with spin: node test/models/check.mjs [model …]
//
//     <model>.pml ─▶ spin -a ─▶ gcc ─▶ pan: assertions and end states, then each `ltl` formula. All hold, in all states
//        └─ each mutation of <model>.mutations ─▶ the same. One does not hold
//
// A formula whose preceding line is a comment `/* pan: <flags> */` is checked with these flags, as `-f` for weak
// fairness.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutationsOf } from './mutations.mjs';

const FEWEST_STATES = 10_000;
const DEPTH = 1_000_000;
const MEMORY = 6000; // MB
/** ms that a step may take; between two reports of it. */
const LONGEST = 300_000;
const INTERVAL = 5000;
/** A mutation is found soon, so its time is the compiler's: tcc takes a tenth of gcc's. */
const quickCompiler = spawnSync('tcc', ['-v']).error === undefined ? ['tcc'] : ['gcc', '-O0'];
const compiler = ['gcc', '-O2'];
/** log2 of the slots of a search's table of states: one that ends soon has a small one. */
const [SLOTS, QUICK_SLOTS] = [24, 22];
const TRUNCATED = /max search depth too small|out of memory|reached -DMEMLIM bound|Search not completed/;
const VIOLATION =
  /pan:\d+: (assertion violated|acceptance cycle|invalid end state|end state in claim reached|claim violated)/;

const say = (line) => process.stdout.write(`${line}\n`);
const complain = (line) => process.stderr.write(`${line}\n`);
const folder = fileURLToPath(new URL('.', import.meta.url));
const known = readdirSync(folder)
  .filter((name) => name.endsWith('.pml'))
  .map((name) => name.slice(0, -'.pml'.length));
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !known.includes(name));
const temporary = mkdtempSync(join(tmpdir(), 'shardwheel-models-'));
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

try {
  if (unknown.length > 0)
    throw new Error(`There is no model ${unknown.join(', ')}. The models are: ${known.join(', ')}.`);
  let isGood = true;
  for (const model of asked.length > 0 ? asked : known) {
    if (!(await checkModel(model))) isGood = false;
    if (!(await checkMutations(model))) isGood = false;
  }
  if (!isGood) process.exitCode = 1;
} catch (error) {
  complain(error.message);
  process.exitCode = 1;
}

/** Checks a model as it stands; returns whether all holds. */
async function checkModel(model) {
  let most = 0;
  const faults = [];
  for await (const { name, states, isTruncated, violation } of checks(model, model, textOf(model))) {
    most = Math.max(most, states);
    if (violation !== undefined) faults.push(`${name}: ${violation}`);
    else if (isTruncated) faults.push(`${name}: the search was cut short`);
  }
  if (most < FEWEST_STATES) faults.push(`there are fewer than ${FEWEST_STATES} states`);
  say(`${model}: ${most} states`);
  for (const fault of faults) complain(`${model}: ${fault}`);
  return faults.length === 0;
}

/** Checks that each mutation of a model is found. */
async function checkMutations(model) {
  const mutations = mutationsOf(model);
  const missed = [];
  for (const { name, text } of mutations) if (!(await isFound(model, name, text))) missed.push(name);
  say(`${model}: ${mutations.length - missed.length} of ${mutations.length} mutations found`);
  for (const name of missed) complain(`${model}: not found: ${name}`);
  return missed.length === 0;
}

async function isFound(model, name, text) {
  for await (const { violation } of checks(model, name, text)) if (violation !== undefined) return true;
  return false;
}

function textOf(model) {
  return readFileSync(join(folder, `${model}.pml`), 'utf8');
}

/** Runs the checks of a model, or of its mutation of that name, in a new folder, one after the other. */
async function* checks(model, name, text) {
  const isMutation = name !== model;
  const label = isMutation ? `${model}: ${name}` : model;
  const at = join(temporary, model, name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, `${model}.pml`), text);
  const spin = await run(`${label}: spin`, 'spin', ['-a', `${model}.pml`], at);
  if (spin.code !== 0 || /error/i.test(spin.text.replaceAll(/^ltl .*$/gm, '')))
    throw new Error(`spin refuses ${label}:\n${spin.text}`);
  // A mutation is found mostly by an assertion, which a formula's search meets as well.
  const by = isMutation ? quickCompiler : compiler;
  const slots = `-w${isMutation ? QUICK_SLOTS : SLOTS}`;
  if (!isMutation) yield await searchSafety();
  const formulas = formulasOf(text);
  if (formulas.length > 0) await compile(label, 'liveness', by, [], at);
  for (const { formula, flags } of formulas)
    yield await search(label, formula, './liveness', [slots, '-a', ...flags, '-N', formula], at);
  if (isMutation) yield await searchSafety();

  async function searchSafety() {
    await compile(label, 'safety', by, ['-DSAFETY', '-DNOCLAIM'], at);
    return search(label, 'assertions and end states', './safety', [slots], at);
  }
}

function formulasOf(text) {
  const found = text.matchAll(/(?:^\/\* pan: (.+?) \*\/\n)?^ltl (\w+)/gm);
  return [...found].map(([, flags = '', formula]) => ({ formula, flags: flags.split(' ').filter(Boolean) }));
}

async function compile(label, program, [name, ...level], flags, at) {
  const args = ['-w', '-DCOLLAPSE', `-DMEMLIM=${MEMORY}`, ...level, ...flags, '-o', program, 'pan.c'];
  const { code, text } = await run(`${label}: ${name}`, name, args, at);
  if (code !== 0) throw new Error(`${name} refuses ${label}:\n${text}`);
}

async function search(label, name, program, args, at) {
  const { text } = await run(`${label}: ${name}`, program, [`-m${DEPTH}`, ...args], at);
  const errors = text.match(/errors: (\d+)/);
  const states = text.match(/^\s*([\d.e+]+) states, stored/m);
  if (errors === null || states === null) throw new Error(`${label}: ${name} has given no result:\n${text}`);
  const violation = text.match(VIOLATION)?.[1];
  if (violation === undefined && errors[1] !== '0') throw new Error(`${label}: ${name} is not a check:\n${text}`);
  return { name, states: Number(states[1]), isTruncated: TRUNCATED.test(text), violation };
}

/** Runs a program; reports what takes long. */
function run(label, program, args, cwd) {
  return new Promise((resolve, reject) => {
    const start = Date.now();
    const child = spawn(program, args, { cwd, timeout: LONGEST, stdio: ['ignore', 'pipe', 'pipe'] });
    const report = () => say(`  ${label}: ${Math.round((Date.now() - start) / 1000)} s`);
    const interval = setInterval(report, INTERVAL);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
    child.on('error', () => {
      clearInterval(interval);
      reject(new Error(`The models need ${program}, which is not there: install the package ${program}.`));
    });
    child.on('close', (code, signal) => {
      clearInterval(interval);
      if (signal !== null) reject(new Error(`${label} was ended by ${signal} after ${Date.now() - start} ms`));
      else resolve({ code, text });
    });
  });
}
