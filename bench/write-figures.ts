#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';
import { figuresOf, subjectsOf, withBlock } from './figures.ts';

// Writes the reference run's figures where the documents show them.
const root = new URL('../../', import.meta.url);
const results = JSON.parse(readFileSync(new URL('bench/results/reference.json', root), 'utf8'));
const blocks = {
  'README.md': figuresOf(results),
  'docs/performance.md': figuresOf(results),
  'docs/figures.md': subjectsOf(results),
};
for (const [path, written] of Object.entries(blocks)) {
  const file = new URL(path, root);
  writeFileSync(file, withBlock(readFileSync(file, 'utf8'), written));
  console.log(`written: ${path}`);
}
