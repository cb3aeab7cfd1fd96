#!/usr/bin/env node
// Makes a release: checks, tests, dates the changes, packs, tries the tarball as a stranger would, commits and tags.
// Publishes nothing.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ChangelogError, dated, withReferences } from './changelog.mjs';
import { tryTarball } from './tarball.mjs';
import { isAbove, isVersion } from './version-order.mjs';

const USAGE = `Usage: npm run release -- <version> [--dry-run [--skip-tests]]

  <version>      such as 1.2.0 or 1.2.0-rc.1; above the last one
  --dry-run      everything but the commit and the tag
  --skip-tests   of a dry run: without lint and tests
  --help         this`;

/** What a release changes. */
const CHANGED = ['package.json', 'package-lock.json', 'CHANGELOG.md'];

class Refusal extends Error {}

const say = (line) => process.stdout.write(`${line}\n`);
const git = (...argv) => execFileSync('git', argv, { encoding: 'utf8' }).trim();
const run = (command, argv, options) => execFileSync(command, argv, { stdio: ['ignore', 2, 2], ...options });

function readArguments() {
  const options = { 'dry-run': { type: 'boolean' }, 'skip-tests': { type: 'boolean' }, help: { type: 'boolean' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) return undefined;
  const [version] = positionals;
  if (positionals.length !== 1) throw new Refusal(`one version is wanted, got ${positionals.length}\n\n${USAGE}`);
  if (!isVersion(version)) throw new Refusal(`a version looks like 1.2.3 or 1.2.3-rc.1, got "${version}"`);
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
  const date = new Date().toISOString().slice(0, 10);
  return withReferences(dated(readFileSync('CHANGELOG.md', 'utf8'), version, date), version);
}

function release() {
  const wanted = readArguments();
  if (wanted === undefined) return say(USAGE);
  const { version, isDry, hasTests } = wanted;
  const changelog = checkRepository(version);
  say(hasTests ? 'building, linting, testing: some two minutes' : 'building');
  run('npm', ['run', '--silent', hasTests ? 'test' : 'build']);
  run('npm', ['version', version, '--no-git-tag-version', '--allow-same-version']);
  writeFileSync('CHANGELOG.md', changelog);
  try {
    const tarball = tryTarball();
    if (isDry) return say(`${tarball} is good. A dry run: nothing was committed or tagged.`);
    run('git', ['commit', '--quiet', '--all', '--message', `release: make ${version}`]);
  } finally {
    git('checkout', '--', ...CHANGED); // of a dry run, and of a tarball that was refused
  }
  run('git', ['tag', '--annotate', `v${version}`, '--message', version]);
  return say(`Tagged v${version}. What is left, and publishes it:\n  git push --follow-tags`);
}

try {
  release();
} catch (error) {
  const isOurs =
    error instanceof Refusal || error instanceof ChangelogError || error.code?.startsWith('ERR_PARSE_ARGS');
  const said = isOurs ? `No release: ${error.message}` : error.stack;
  process.stderr.write(`${said}\n`);
  process.exitCode = 1;
}
