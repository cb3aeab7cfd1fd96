import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Scheduler } from '../src/scheduler/scheduler.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}README.md`, 'utf8');
const packageJson = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

const codeBlocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]);

describe('README', () => {
  it('shows as its first example the file that the tests run', () => {
    expect(codeBlocks[0]).toBe(readFileSync(`${root}examples/first-timer.ts`, 'utf8'));
  });

  it('names only scripts that package.json has', () => {
    const scripts = [...readme.matchAll(/npm (?:run )?(start|test|bench|[a-z]+:[a-z]+)\b/g)].map((match) => match[1]);
    expect(scripts.length).toBeGreaterThan(2);
    for (const script of scripts) expect(packageJson.scripts).toHaveProperty([script]);
  });

  it('names every public method of the scheduler, and no other', () => {
    const table = readme.slice(readme.indexOf('## What it does'), readme.indexOf('## What it promises'));
    const named = [...table.matchAll(/`(\w+)\(/g)].map((match) => match[1]);
    named.push(...[...table.matchAll(/, `(size|now)/g)].map((match) => match[1]));
    const isPublic = (name: string) => name !== 'constructor' && !privateNames.has(name);
    const methods = Object.getOwnPropertyNames(Scheduler.prototype).filter(isPublic);
    expect(methods.filter((name) => !named.includes(name) && name !== 'ready')).toEqual([]);
    const known = new Set([...methods, 'createScheduler', 'createWheel', 'on']);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('states the Node version that package.json asks for', () => {
    expect(readme).toContain(`Node.js ${packageJson.engines.node.replace('>=', '')} or newer`);
  });
});

describe('documents', () => {
  const documents = [
    'README.md',
    'CHANGELOG.md',
    'examples/README.md',
    ...readdirSync(`${root}docs`).map((name) => `docs/${name}`),
  ];

  it('link only to files that exist', () => {
    let links = 0;
    for (const document of documents.filter((name) => name.endsWith('.md'))) {
      const text = readFileSync(root + document, 'utf8');
      for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
        links += 1;
        expect(existsSync(new URL(target, `file://${root}${document}`)), `${document} → ${target}`).toBe(true);
      }
    }
    expect(links).toBeGreaterThan(5);
  });

  it('name only source files that exist', () => {
    let paths = 0;
    for (const document of documents) {
      for (const [, path] of readFileSync(root + document, 'utf8').matchAll(
        /`((?:src|workers|test|bench|examples)\/[\w./-]+)`/g,
      )) {
        paths += 1;
        expect(existsSync(root + path), `${document} → ${path}`).toBe(true);
      }
    }
    expect(paths).toBeGreaterThan(15);
  });
});

/** TypeScript's private methods, which are there at run time all the same. */
const privateNames = new Set(
  [
    ...readFileSync(`${root}src/scheduler/scheduler.ts`, 'utf8').matchAll(
      /^ {2}private (?:async )?(?:readonly )?(\w+)/gm,
    ),
  ].map((match) => match[1]),
);
