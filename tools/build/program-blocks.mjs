#!/usr/bin/env node
// Programs that a document shows as a whole are the examples as they stand: below a heading that names a file of
// `examples`, the block is that file. `--write` (part of `npm run format`) makes it so; without it the blocks that are
// not so are listed.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const DOCUMENT = 'docs/proxy-programs.md';

/** A heading with a file's name, and the block below it. */
const PROGRAM = /^(### `([\w/-]+\.ts)`\n\n)```ts\n[\s\S]*?^```$/gm;

const text = readFileSync(`${root}${DOCUMENT}`, 'utf8');
const stale = [];
const wanted = text.replace(PROGRAM, (whole, heading, file) => {
  const program = readFileSync(`${root}examples/${file}`, 'utf8');
  const block = `${heading}\`\`\`ts\n${program}\`\`\``;
  if (block !== whole) stale.push(file);
  return block;
});
if (process.argv.includes('--write')) {
  writeFileSync(`${root}${DOCUMENT}`, wanted);
} else if (stale.length > 0) {
  console.error(`${DOCUMENT} shows other texts than examples/{${stale.join()}}: npm run format`);
  process.exitCode = 1;
}
