#!/usr/bin/env node
// Links of the documents that are packed must work where the package is installed: what is packed is linked by its
// path, all else in the repository. `--write` (part of `npm run format`) makes them so; without it the links that are
// not so are listed.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { homepage } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const HOME = `${homepage.replace(/#.*$/, '')}/blob/main/`;
/** What makes a file of the repository a picture. */
const RAW = '?raw=true';
const isPicture = (path) => /\.(png|svg|jpe?g|gif)$/.test(path);

/** The target of a link or a picture, in Markdown and in HTML, with what stands before it. */
const TARGET = /(\]\(|\b(?:src|srcset|href)=")([^)"\s]+)/g;

/** The paths that `npm pack` takes. */
export function packedFiles() {
  const argv = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const output = execFileSync('npm', argv, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return JSON.parse(output.slice(output.indexOf('[')))[0].files.map(({ path }) => path);
}

/** A document's text with each link to a file of the repository as it has to be where only `packed` is at hand. */
export function withPackedLinks(document, text, packed) {
  return text.replace(TARGET, (whole, before, target) => {
    const isHome = target.startsWith(HOME);
    if (!isHome && /^(#|\w+:)/.test(target)) return whole;
    const [place, anchor] = (isHome ? target.slice(HOME.length) : target).split('#');
    const file = place.replace(RAW, '');
    const path = isHome ? file : posix.join(posix.dirname(document), file);
    if (!existsSync(`${root}${path}`)) return whole; // dead as it stands, which test/docs/names.test.ts tells
    const end = anchor === undefined ? '' : `#${anchor}`;
    if (packed.includes(path) && !isHome) return whole;
    if (packed.includes(path)) return `${before}${posix.relative(posix.dirname(document), path)}${end}`;
    return `${before}${HOME}${path}${isPicture(path) ? RAW : ''}${end}`;
  });
}

/** The inverse, for the site: links to files of the repository by their path from the document. */
export const withRelativeLinks = (document, text) =>
  text.replace(TARGET, (whole, before, target) => {
    if (!target.startsWith(HOME)) return whole;
    const [path, anchor] = target.slice(HOME.length).replace(RAW, '').split('#');
    const relative = posix.relative(posix.dirname(document), path);
    return before + relative + (anchor === undefined ? '' : `#${anchor}`);
  });

function main() {
  const isWriting = process.argv.includes('--write');
  const packed = packedFiles();
  for (const document of packed.filter((path) => path.endsWith('.md'))) {
    const text = readFileSync(`${root}${document}`, 'utf8');
    const wanted = withPackedLinks(document, text, packed);
    if (text === wanted) continue;
    if (isWriting) writeFileSync(`${root}${document}`, wanted);
    else process.exitCode = 1;
    const lines = wanted.split('\n');
    for (const [at, line] of text.split('\n').entries()) {
      if (line !== lines[at]) process.stdout.write(`${document}:${at + 1} ${isWriting ? 'was' : 'is'} ${line}\n`);
    }
  }
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) main();
