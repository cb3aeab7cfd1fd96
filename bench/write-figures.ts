#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';
import { withBlock } from './engine/figures.ts';
import { figureBlocks, figurePlots } from './figure-blocks.ts';

// Writes the figures of each run where the documents show them, and their pictures.
const root = new URL('../../', import.meta.url);
for (const [path, block] of figureBlocks(root)) {
  const document = new URL(path, root);
  writeFileSync(document, withBlock(readFileSync(document, 'utf8'), block));
  console.log(`written: ${path}`);
}
for (const [path, svg] of figurePlots(root)) {
  writeFileSync(new URL(path, root), svg);
  console.log(`written: ${path}`);
}
