#!/usr/bin/env node
// Makes a release: checks, tests, packs, tries the tarball as a stranger would, dates the changes, commits and tags. Publishes nothing.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const USAGE = `Usage: npm run release -- <version> [--dry-run [--skip-tests]]

  <version>      such as 0.2.0; above the last one
  --dry-run      everything but the commit and the tag
  --skip-tests   of a dry run: without lint and tests
  --help         this`;

/** Tools that look at the tarball, from the registry when they are needed. */
const CHECKERS = [
  ['publint@0.3.25', 'publint', '--strict'],
  ['@arethetypeswrong/cli@0.18.5', 'attw', '--profile', 'node16', '--quiet'],
];

/** What a stranger tries first. */
const PROGRAM = `
import { createScheduler } from 'shardwheel';
const scheduler = createScheduler({ shards: 1 });
await scheduler.ready;
const { by } = (await scheduler.stats()).serving;
if (by !== 'threads') throw new Error('timers are served by ' + by);
scheduler.scheduleAfter('hint', 10, (word) => console.log(word), 'fired');
`;

class Refusal extends Error {}

const say = (line) => process.stdout.write(`${line}\n`);
const git = (...argv) => execFileSync('git', argv, { encoding: 'utf8' }).trim();
const run = (command, argv, options) => execFileSync(command, argv, { stdio: ['ignore', 2, 2], ...options });

const numbersOf = (version) => /^(\d+)\.(\d+)\.(\d+)$/.exec(version)?.slice(1).map(Number);

function isAbove(version, other) {
  const [a, b] = [numbersOf(version), numbersOf(other)];
  const at = a.findIndex((number, i) => number !== b[i]);
  return at >= 0 && a[at] > b[at];
}

function readArguments() {
  const options = { 'dry-run': { type: 'boolean' }, 'skip-tests': { type: 'boolean' }, help: { type: 'boolean' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) return undefined;
  const [version] = positionals;
  if (positionals.length !== 1) throw new Refusal(`one version is wanted, got ${positionals.length}\n\n${USAGE}`);
  if (numbersOf(version) === undefined) throw new Refusal(`a version looks like 1.2.3, got "${version}"`);
  if (values['skip-tests'] && !values['dry-run']) throw new Refusal('--skip-tests is for a dry run only');
  return { version, isDry: values['dry-run'] === true, hasTests: values['skip-tests'] !== true };
}

/** Throws where the repository is in no state for it. Returns the changelog as it will be. */
function checkRepository(version) {
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD');
  if (branch !== 'main') throw new Refusal(`releases are made on main, this is ${branch}`);
  const changes = git('status', '--porcelain');
  if (changes !== '') throw new Refusal(`there are changes that are not committed:\n${changes}`);
  const last = JSON.parse(readFileSync('package.json', 'utf8')).version;
  const tags = git('tag', '--list', 'v*').split('\n');
  if (tags.includes(`v${version}`)) throw new Refusal(`${version} has been released: there is a tag v${version}`);
  const isFirst = !tags.includes(`v${last}`) && version === last;
  if (!isFirst && !isAbove(version, last)) throw new Refusal(`${version} is not above ${last}`);
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  const unreleased = /^## Unreleased\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog);
  if (!unreleased?.[1].includes('- ')) throw new Refusal('CHANGELOG.md lists nothing under "## Unreleased"');
  const date = new Date().toISOString().slice(0, 10);
  return changelog.replace('## Unreleased\n', `## Unreleased\n\n## ${version} (${date})\n`);
}

/** Throws where the tarball is not what a stranger can use. */
function tryTarball() {
  const folder = mkdtempSync(join(tmpdir(), 'shardwheel-release-'));
  try {
    say('packing');
    run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder]);
    const [name] = readdirSync(folder);
    const tarball = join(folder, name);
    for (const [source, command, ...argv] of CHECKERS) {
      say(`checking with ${source}`);
      run('npx', ['--yes', '--package', source, command, tarball, ...argv]);
    }
    say('installing into an empty project');
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    writeFileSync(join(folder, 'main.mjs'), PROGRAM);
    run('npm', ['install', '--no-audit', '--no-fund', '--silent', tarball], { cwd: folder });
    const printed = execFileSync(process.execPath, ['main.mjs'], { cwd: folder, encoding: 'utf8', timeout: 30_000 });
    if (printed !== 'fired\n') throw new Refusal(`the installed package printed ${JSON.stringify(printed)}`);
    return name;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function release() {
  const wanted = readArguments();
  if (wanted === undefined) return say(USAGE);
  const { version, isDry, hasTests } = wanted;
  const changelog = checkRepository(version);
  say(hasTests ? 'building, linting, testing: some two minutes' : 'building');
  run('npm', ['run', '--silent', hasTests ? 'test' : 'build']);
  const tarball = tryTarball();
  if (isDry) return say(`${tarball} is good. A dry run: nothing was committed or tagged.`);
  run('npm', ['version', version, '--no-git-tag-version', '--allow-same-version']);
  writeFileSync('CHANGELOG.md', changelog);
  run('git', ['commit', '--quiet', '--all', '--message', `release: make ${version}`]);
  run('git', ['tag', '--annotate', `v${version}`, '--message', version]);
  return say(`Tagged v${version}. What is left:\n  git push --follow-tags\n  npm publish`);
}

try {
  release();
} catch (error) {
  const isOurs = error instanceof Refusal || error.code?.startsWith('ERR_PARSE_ARGS');
  process.stderr.write(`${isOurs ? `No release: ${error.message}` : error.stack}\n`);
  process.exitCode = 1;
}
