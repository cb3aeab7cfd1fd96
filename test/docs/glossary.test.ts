import { describe, expect, test } from 'vitest';
import { below, read, sources } from './documents.ts';

const glossary = below('## Words', read('docs/design.md'))!;
/** The words that are defined: those in bold. */
const defined = [...glossary.matchAll(/\*\*([\w -]+)\*\*/g)].map(([, word]) => word);

/** Names in the code, without comments and without what strings hold. */
const names = new Set(
  sources.flatMap(
    (text) =>
      text
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/\/\/.*$/gm, '')
        .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
        .match(/\b[A-Za-z_]\w*/g)!,
  ),
);

/** Ways in which a name is no longer made, and what says the same. */
const given: [pattern: RegExp, instead: string, allowed: readonly string[]][] = [
  [
    /^(MOST|LEAST|LONGEST|SHORTEST)_|^(LOOK|NEAR|LONGEST|MOST|TOLD)$|_LOOKS?(_|$)|_TOLD$/,
    'MAX_, MIN_ or what is checked, with its unit',
    [],
  ],
  [/^told|Told|untold/, 'reported', []],
  [/(Durable|Waiter|Repeating|Quiescence|Home|Delivery)Host|^hostOf/, 'a client, or the core of durable timers', []],
  [/^Left[A-Z]|OfLeft/, 'what is handed back', []],
  [/^(insert|file|publish|cascade)Near/, 'direct, or soon: near is of durable timers', []],
];

describe('the words of docs/design.md', () => {
  test('are defined once, and used', () => {
    expect(defined.length).toBeGreaterThan(30);
    expect(defined.filter((word, at) => defined.indexOf(word) < at)).toEqual([]);
    const text = sources.join('\n').toLowerCase();
    const unused = defined.filter((word) => text.split(word.replace(/e$/, '')).length < 5);
    expect(unused).toEqual([]);
  });

  test.each(given)('no name is made like %s any more, but: %s', (pattern, _, allowed) => {
    expect([...names].filter((name) => pattern.test(name) && !allowed.includes(name))).toEqual([]);
  });

  test('a constant that is a bound names what it bounds', () => {
    const bounds = [...names].filter((name) => /^(MAX|MIN)(_|$)/.test(name));
    expect(bounds.length).toBeGreaterThan(30);
    expect(bounds.filter((name) => !/^(MAX|MIN)_[A-Z]{2,}/.test(name))).toEqual([]);
  });
});
