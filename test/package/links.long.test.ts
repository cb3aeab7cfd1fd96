import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { anchorsOf, read, root } from '../docs/documents.ts';
import { InstalledProject } from './installed-project.ts';

const project = new InstalledProject();
const installed = join(project.folder, 'node_modules/shardwheel');

const home = `${JSON.parse(read('package.json')).repository.url.replace(/^git\+|\.git$/g, '')}/`;

interface Link {
  readonly document: string;
  readonly target: string;
}

/** Links and pictures of every document of the package, in Markdown and in HTML, and by reference. */
const links: Link[] = [];

beforeAll(() => {
  const documents = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.md'),
  );
  expect(documents.length).toBeGreaterThan(10);
  for (const document of documents) {
    const text = readFileSync(join(installed, document), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
    for (const [, target] of text.matchAll(/(?:\]\(|\b(?:src|srcset|href)=")([^)"\s]+)/g))
      links.push({ document, target });
    for (const [, target] of text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)) links.push({ document, target });
  }
});

/** Whether there is a file, and in it the heading that an anchor names. */
function isThere(file: string, anchor: string | undefined): boolean {
  if (!existsSync(file)) return false;
  return anchor === undefined || !file.endsWith('.md') || anchorsOf(readFileSync(file, 'utf8')).has(anchor);
}

test('each link and picture that names no server is in the package, and so is its heading', () => {
  const inside = links.filter(({ target }) => !/^\w+:/.test(target));
  const dead = inside.filter(({ document, target }) => {
    const [path, anchor] = target.split('#');
    const file = path === '' ? join(installed, document) : join(installed, dirname(document), path);
    return relative(installed, file).startsWith('..') || !isThere(file, anchor);
  });
  expect(dead).toEqual([]);
  expect(inside.length).toBeGreaterThan(60);
});

test('each that leads to a file of the repository finds it, and its heading', () => {
  const files = links.filter(({ target }) => target.startsWith(`${home}blob/main/`));
  const dead = files.filter(({ target }) => {
    const [path, anchor] = target.slice(`${home}blob/main/`.length).replace('?raw=true', '').split('#');
    return !isThere(root + path, anchor);
  });
  expect(dead).toEqual([]);
  expect(files.length).toBeGreaterThan(20);
});

test('what else leads to the repository is of a kind that GitHub has', () => {
  const kinds = /^(blob\/main\/.+|issues|discussions|security\/advisories\/new|compare\/[\w.-]+|tree\/[\w.-]+)$/;
  const own = links.filter(({ target }) => target.startsWith(home));
  expect(own.filter(({ target }) => !kinds.test(target.slice(home.length)))).toEqual([]);
});
