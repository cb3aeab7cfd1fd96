import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
// @ts-expect-error: a plain list, which run.mjs uses without a build
import { mutations } from './mutations.mjs';

interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly from: string;
}

const read = (file: string) => readFileSync(new URL(`../../../src/wheel/${file}`, import.meta.url), 'utf8');

test('every line that run.mjs breaks stands in its file, once', () => {
  const found = (mutations as Mutation[]).map(({ name, file, from }) => [name, read(file).split(from).length - 1]);
  expect(found.length).toBeGreaterThan(60);
  expect(found.filter(([, times]) => times !== 1)).toEqual([]);
});
