#!/usr/bin/env node
// Wraps comments at 120 columns: node tools/build/wrap-comments.mjs [--check] [folders]. Prose is filled anew from the
// first line that is too long to the end of its paragraph; drawings, tables and what is indented stay as they are, and
// are only told.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

export const COLUMNS = 120;
const ALL = ['src', 'workers', 'tools', 'bench', 'test', 'examples'];

/**
 * The comments of a source as blocks of whole lines: line comments that stand alone below each other, and doc comments.
 */
function blocksOf(path, text) {
  const lines = text.split('\n');
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1) + line.length + 1);
  const lineAt = (offset) => starts.findLastIndex((start) => start <= offset);
  const blocks = [];
  for (const { type, value, start, end } of parseSync(path, text).comments) {
    // The parser tells the line that names an interpreter as a comment.
    if (text.startsWith('#!', start)) continue;
    const [first, last] = [lineAt(start), lineAt(end - 1)];
    const indent = text.slice(starts[first], start);
    const isAlone = indent.trim() === '' && text.slice(end, starts[last + 1] - 1).trim() === '';
    const kind = isAlone ? kindOf(type, value) : 'beside';
    const before = blocks.at(-1);
    const joins = kind === 'line' && before?.kind === 'line' && before.last === first - 1 && before.indent === indent;
    if (joins) before.last = last;
    else blocks.push({ kind, first, last, indent });
  }
  return { blocks, lines };
}

function kindOf(type, value) {
  if (type === 'Line') return 'line';
  return value.startsWith('*') ? 'doc' : 'plain';
}

/** Comments that reach beyond the last column, as numbers of lines from 1; an address that has no space in it may. */
export function overlongComments(path, text) {
  const { blocks, lines } = blocksOf(path, text);
  return blocks.flatMap(({ first, last }) => {
    const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    return numbers.filter((at) => lines[at].length > COLUMNS && !/\S{60,}$/.test(lines[at])).map((at) => at + 1);
  });
}

const isProse = (line) => /^\S/.test(line) && !/ {2,}|^[|#]|^```|[│┌└├─▶▲▼┐┘]/.test(line);
const beginsItem = (line) => /^(?:[-*] |\d+\. |@\w+)/.test(line);

/** Fills words into lines of `width`. */
function filled(words, width, hanging) {
  const lines = [words[0]];
  for (const word of words.slice(1)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(hanging + word);
  }
  return lines;
}

/** The lines of a comment, without what marks them as such. */
function rewrapped(texts, width) {
  const result = [];
  let at = 0;
  while (at < texts.length) {
    if (texts[at].length <= width || !isProse(texts[at].replace(/^ {1,3}/, ''))) {
      result.push(texts[at]);
      at += 1;
      continue;
    }
    const indent = /^ */.exec(texts[at])[0];
    const hanging = indent + (/^ *(- |\* )/.test(texts[at]) ? '  ' : '');
    const words = texts[at].trim().split(' ');
    words[0] = indent + words[0];
    at += 1;
    const follows = (line) =>
      line?.startsWith(hanging) && isProse(line.slice(hanging.length)) && !beginsItem(line.trim());
    while (follows(texts[at])) {
      words.push(...texts[at].trim().split(' '));
      at += 1;
    }
    result.push(...filled(words, width, hanging));
  }
  return result;
}

function docLines(lines, indent) {
  const width = COLUMNS - indent.length - 3;
  const inner = lines
    .join('\n')
    .replace(/^\s*\/\*\*/, '')
    .replace(/\s*\*\/\s*$/, '');
  const isSingle = lines.length === 1;
  const texts = isSingle
    ? [inner.trim()]
    : inner
        .split('\n')
        .slice(1)
        .map((line) => line.replace(/^\s*\*( |$)/, ''));
  return [`${indent}/**`, ...rewrapped(texts, width).map((text) => `${indent} * ${text}`.trimEnd()), `${indent} */`];
}

function lineLines(lines, indent) {
  const texts = lines.map((line) => line.trim().replace(/^\/\/ ?/, ''));
  return rewrapped(texts, COLUMNS - indent.length - 3).map((text) => `${indent}// ${text}`.trimEnd());
}

/** The source with its comments wrapped. */
export function wrapComments(path, text) {
  const { blocks, lines } = blocksOf(path, text);
  for (const { kind, first, last, indent } of blocks.toReversed()) {
    const own = lines.slice(first, last + 1);
    if (own.every((line) => line.length <= COLUMNS)) continue;
    if (kind === 'doc') lines.splice(first, own.length, ...docLines(own, indent));
    if (kind === 'line') lines.splice(first, own.length, ...lineLines(own, indent));
    if (kind === 'beside' && first === last) lines.splice(first, 1, ...above(own[0]));
  }
  return lines.join('\n');
}

/** What stands behind code that is too long with it comes above it. */
function above(line) {
  const at = line.lastIndexOf(' // ');
  if (at < 0) return [line];
  const indent = /^ */.exec(line)[0];
  return [...lineLines([line.slice(at + 1)], indent), line.slice(0, at).trimEnd()];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  const folders = given.filter((word) => word !== '--check');
  let count = 0;
  for (const folder of folders.length > 0 ? folders : ALL) {
    for (const name of readdirSync(folder, { recursive: true })) {
      const path = join(folder, name);
      if (!/\.(ts|mts|cts|js|mjs|cjs)$/.test(path) || path.includes('node_modules')) continue;
      const text = readFileSync(path, 'utf8');
      if (overlongComments(path, text).length === 0) continue;
      if (!given.includes('--check')) writeFileSync(path, wrapComments(path, text));
      for (const line of overlongComments(path, readFileSync(path, 'utf8'))) {
        console.log(`${path}:${line}`);
        count += 1;
      }
    }
  }
  process.exitCode = count > 0 ? 1 : 0;
}
