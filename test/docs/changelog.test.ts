import { expect, test } from 'vitest';
import { read } from './documents.ts';

const changelog = read('CHANGELOG.md');

test('each heading in brackets has a reference, to what came since the one before', () => {
  const headings = [...changelog.matchAll(/^## \[([^\]]+)\]/gm)].map(([, name]) => name);
  const references = [...changelog.matchAll(/^\[([^\]]+)\]: (\S+)$/gm)].map(([, name, url]) => ({ name, url }));
  expect(references.map(({ name }) => name)).toEqual(headings);
  expect(headings[0]).toBe('Unreleased');
  expect(headings.length).toBeGreaterThan(3);
  const spans = references.map(({ url }) => /\/(?:compare\/([\w.-]+?)\.\.\.|tree\/)([\w.-]+)$/.exec(url) ?? []);
  const ends = spans.map(([, , to]) => to);
  expect(ends[0]).toBe('HEAD');
  expect(spans.slice(0, -1).map(([, from]) => from)).toEqual(ends.slice(1));
});

test('versions stand newest first, each with its date but for what is unreleased', () => {
  const dates = [...changelog.matchAll(/^## \[\d[^\]]*\](.*)$/gm)].map(([, rest]) => rest);
  expect(dates.filter((rest) => !/^ - \d{4}-\d\d-\d\d$/.test(rest))).toEqual([]);
  expect(dates).toEqual([...dates].sort().reverse());
});
