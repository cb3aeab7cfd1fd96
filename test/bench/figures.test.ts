import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { figuresOf, subjectsOf, withBlock } from '../../bench/figures.ts';
import { judge, marks } from '../../bench/marks.ts';
import type { Results } from '../../bench/results.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const reference: Results = JSON.parse(read('bench/results/reference.json'));

describe('the figures that the documents show', () => {
  test.each(['README.md', 'docs/performance.md'])('%s has those of the reference run', (path) => {
    expect(read(path)).toContain(figuresOf(reference));
  });

  test('docs/figures.md has those of every subject', () => {
    expect(read('docs/figures.md')).toContain(subjectsOf(reference));
  });

  test('a run whose suites are no longer what they were is not shown', () => {
    const comparisons = [{ suite: 'gone', title: '', base: '', rows: [] }];
    expect(() => subjectsOf({ ...reference, comparisons })).toThrow('"gone"');
  });

  test('the reference run measured every mark, at full size, and judged them as is done today', () => {
    expect(reference.quick).toBe(false);
    expect(reference.marks.map(({ mark }) => mark.title)).toEqual(marks.map(({ title }) => title));
    expect(reference.marks.filter(({ state }) => state === 'not measured')).toEqual([]);
    expect(JSON.parse(JSON.stringify(judge(reference.comparisons)))).toEqual(reference.marks);
  });

  test('are written between their two lines, and nowhere else', () => {
    const figures = figuresOf(reference);
    const [begin, end] = [figures.slice(0, figures.indexOf('\n')), figures.slice(figures.lastIndexOf('\n') + 1)];
    expect(withBlock(`before\n${begin}\nold\n${end}\nafter`, figures)).toBe(`before\n${figures}\nafter`);
    expect(() => withBlock('neither line', figures)).toThrow('to write between');
  });
});
