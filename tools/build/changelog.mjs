#!/usr/bin/env node
// CHANGELOG.md as a release needs it: the section of a version dated, the references at its end, and the notes of one
// version.
//
//     node tools/build/changelog.mjs 1.2.0          prints what changed in 1.2.0, for a release of GitHub
//     node tools/build/changelog.mjs --references   writes the references anew
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const UNRELEASED = 'Unreleased';
const headOf = (version) => `## [${version}]`;
const REFERENCE = /^\[(?:Unreleased|\d[^\]]*)\]: .*\n?/gm;

/** A changelog that cannot be released; the message says why. */
export class ChangelogError extends Error {}

const git = (...argv) => execFileSync('git', argv, { encoding: 'utf8' }).trim();
const repository = () => JSON.parse(readFileSync('package.json', 'utf8')).repository.url.replace(/^git\+|\.git$/g, '');

/** What stands between a version's heading and the next, or the references; undefined where it has none. */
function sectionOf(changelog, version) {
  const lines = changelog.replaceAll(REFERENCE, '').split('\n');
  const from = lines.findIndex((line) => line === headOf(version) || line.startsWith(`${headOf(version)} - `));
  if (from < 0) return undefined;
  const length = lines.slice(from + 1).findIndex((line) => line.startsWith('## '));
  return lines.slice(from + 1, length < 0 ? undefined : from + 1 + length).join('\n');
}

/** The changelog with the version's section dated: the one that has its name already, or else what is unreleased. */
export function dated(changelog, version, date) {
  const lists = (name) => sectionOf(changelog, name)?.includes('- ') === true;
  const head = headOf(version);
  if (changelog.includes(`\n${head}\n`)) {
    if (!lists(version)) throw new ChangelogError(`CHANGELOG.md lists nothing under "${head}"`);
    if (lists(UNRELEASED))
      throw new ChangelogError(`CHANGELOG.md has "${head}", so "${headOf(UNRELEASED)}" must be empty`);
    return changelog.replace(`\n${head}\n`, `\n${head} - ${date}\n`);
  }
  if (!lists(UNRELEASED)) throw new ChangelogError(`CHANGELOG.md lists nothing under "${headOf(UNRELEASED)}"`);
  return changelog.replace(`\n${headOf(UNRELEASED)}\n`, `\n${headOf(UNRELEASED)}\n\n${head} - ${date}\n`);
}

/**
 * The changelog with a reference for each heading in brackets, to what came since the version before. `making`: the
 * version whose tag is about to be made. One that has no tag is named by the commit that made it.
 */
export function withReferences(changelog, making) {
  const tags = new Set(git('tag', '--list', 'v*').split('\n'));
  const placeOf = (name) => {
    if (name === UNRELEASED) return 'HEAD';
    if (name === making || tags.has(`v${name}`)) return `v${name}`;
    const commit = git(
      'log',
      '--max-count=1',
      '--abbrev=12',
      '--format=%h',
      `--grep=^release: make ${name.replaceAll('.', '\\.')}$`,
    );
    if (commit === '') throw new ChangelogError(`CHANGELOG.md has ${name}, which is no tag, and no commit has made it`);
    return commit;
  };
  const home = repository();
  const names = [...changelog.matchAll(/^## \[([^\]]+)\]/gm)].map(([, name]) => name);
  const references = names.map((name, at) => {
    const place = placeOf(name);
    const before = names[at + 1];
    const path = before === undefined ? `tree/${place}` : `compare/${placeOf(before)}...${place}`;
    return `[${name}]: ${home}/${path}\n`;
  });
  return `${changelog.replaceAll(REFERENCE, '').trimEnd()}\n\n${references.join('')}`;
}

/** What changed in a version, with links that lead to its files. */
export function notesOf(changelog, version) {
  const section = sectionOf(changelog, version)?.trim();
  if (section === undefined || section === '') throw new ChangelogError(`CHANGELOG.md has nothing of ${version}`);
  const place = `${repository()}/blob/v${version}/`;
  const linked = section.replace(/\]\((?!\w+:|#)/g, `](${place}`);
  return `${linked}\n`;
}

function main(wanted) {
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  if (wanted === '--references') writeFileSync('CHANGELOG.md', withReferences(changelog));
  else process.stdout.write(notesOf(changelog, wanted));
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) main(process.argv[2] ?? '');
