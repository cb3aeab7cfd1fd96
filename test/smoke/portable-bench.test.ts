import { expect, test } from 'vitest';
import { read } from '../docs/documents.ts';
import { sourcesIn } from '../fixtures/source-files.ts';

test('the portable bench loads what a copy without the repository has: Node, itself and run-time dependencies', () => {
  const loadsOf = new Map(sourcesIn('src', 'bench').map(({ path, loads }) => [path, loads]));
  const reached = new Set(['bench/portable/main.ts']);
  // A set that grows is walked to its new end.
  for (const path of reached) for (const to of loadsOf.get(path) ?? []) reached.add(to);
  const { dependencies } = JSON.parse(read('package.json')) as { readonly dependencies: object };
  const isThere = new RegExp(`^(node:|(${['shardwheel', ...Object.keys(dependencies)].join('|')})(/|$))`);
  const packages = [...reached].filter((name) => /^[@\w]/.test(name) && !loadsOf.has(name));
  const missing = packages.filter((name) => !isThere.test(name));
  expect(missing).toEqual([]);
  expect(packages).toContain('node:util');
  expect(reached.size).toBeGreaterThan(50);
});
