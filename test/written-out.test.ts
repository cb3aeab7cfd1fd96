import { expect, test } from 'vitest';
import { overlongComments, wrapComments } from '../tools/build/wrap-comments.mjs';
import { read } from './docs/documents.ts';
import { sourcePaths } from './fixtures/source-paths.ts';
import { packedIn, statementsOf } from './fixtures/syntax.ts';

const code = sourcePaths('src', 'workers', 'tools', 'bench');
const all = [...code, ...sourcePaths('test', 'examples')];

test('comments have at most 120 columns: node tools/build/wrap-comments.mjs', () => {
  const overlong = all.flatMap((path) => overlongComments(path, read(path)).map((line) => `${path}:${line}`));
  expect(overlong).toEqual([]);
  expect(all.length).toBeGreaterThan(700);
  expect(overlongComments('a.ts', `a();\n// ${'words '.repeat(30)}\n/** ${'b '.repeat(60)}*/`)).toEqual([2, 3]);
});

test('to wrap comments changes no line that names an interpreter', () => {
  const long = `// ${'words '.repeat(30)}`;
  expect(wrapComments('a.mjs', `#!/usr/bin/env node\n${long}`)).toMatch(/^#!.*\n\/\/ words/);
  expect(all.filter((path) => read(path).startsWith('// #!'))).toEqual([]);
});

test('no template is nested in another, and commas, && and ? have no effects', () => {
  expect(code.flatMap((path) => packedIn(path, read(path)).map((line) => `${path}:${line}`))).toEqual([]);
  expect(code.length).toBeGreaterThan(500);
  const nested = ['`$', '{b ? `c` : d}`;'].join('');
  expect(packedIn('a.ts', `${nested}\ne && f();\ng = (h(), i);\nj = k && l;`)).toEqual([1, 2, 3]);
});

/** 40 statements are a lot. These have more, and why. */
const manyStatements: Record<string, string> = {
  'src/client/delivery.ts': 'deliverLane: a callback has at most four frames of this package below it',
};

test('a function has at most 40 statements, or a reason', () => {
  const functions = code.flatMap((path) => statementsOf(path, read(path)));
  const long = functions.filter(({ count }) => count > 40);
  const unexplained = long.filter(({ path }) => manyStatements[path] === undefined);
  expect(unexplained.map(({ path, line, count }) => `${path}:${line}: ${count}`)).toEqual([]);
  expect(long.length).toBe(Object.keys(manyStatements).length);
  expect(functions.length).toBeGreaterThan(4000);
  const nested = 'function f() { if (a) { b(); return; } for (;;) c(() => { d(); }); }';
  expect(statementsOf('a.ts', nested).map(({ count }) => count)).toEqual([1, 5]);
});
