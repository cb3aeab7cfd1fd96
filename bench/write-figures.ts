#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';
import { figuresOf, withFigures } from './figures.ts';

// Writes the reference run's figures where the documents show them.
const root = new URL('../../', import.meta.url);
const results = JSON.parse(readFileSync(new URL('bench/results/reference.json', root), 'utf8'));
for (const path of ['README.md', 'docs/performance.md']) {
  const file = new URL(path, root);
  writeFileSync(file, withFigures(readFileSync(file, 'utf8'), figuresOf(results)));
  console.log(`written: ${path}`);
}
