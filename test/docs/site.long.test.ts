import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { documents, read, root } from './documents.ts';

const site = `${root}docs/site`;

const run = (command: string, ...argv: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, argv, { cwd: site, encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
};

beforeAll(() => {
  const { status, text } = run('npm', 'ci', '--no-audit', '--no-fund');
  expect(status, text).toBe(0);
}, 200_000);

test('docs/api is as the docstrings have it', () => {
  expect(run('node', 'api.mjs', '--check').text).toContain('docs/api is as the docstrings have it');
});

test('the site is built, with a page for each document, and no link is dead', () => {
  rmSync(`${site}/dist`, { recursive: true, force: true });
  const { status, text } = run('npm', 'run', 'build');
  expect(status, text).toBe(0);
  for (const path of documents.filter((each) => each.startsWith('docs/'))) {
    expect(existsSync(`${site}/dist/${path.replace('.md', '.html')}`), path).toBe(true);
    const [, name] = /^docs\/([\w-]+)\.md$/.exec(path) ?? [];
    if (name !== undefined) expect(read('docs/site/.vitepress/config.mjs'), path).toContain(`'${name}'`);
  }
  const index = readFileSync(`${site}/dist/index.html`, 'utf8');
  expect(index).toContain('https://github.com/shardwheel/shardwheel');
  expect(index).not.toContain('.md"');
}, 200_000);

// VitePress looks whether a page is there, but not whether a heading is.
test('every link of the site leads to a page, and to a heading if it names one, or to a file of the repository', () => {
  const home = `${JSON.parse(read('package.json')).homepage.replace('#readme', '')}/blob/main/`;
  const paths = readdirSync(`${site}/dist`, { recursive: true, encoding: 'utf8' });
  const html = paths.filter((path) => path.endsWith('.html'));
  /** The pages by their addresses, each with its anchors and the targets of its links. */
  const pages = new Map(
    html.map((path) => {
      const text = readFileSync(`${site}/dist/${path}`, 'utf8');
      const anchors = new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
      const targets = [...text.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, target]) => target);
      return [`/${path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`, { anchors, targets }];
    }),
  );
  const links = [...pages].flatMap(([page, { targets }]) => targets.map((target) => ({ page, target })));
  const inside = links.filter(({ target }) => !/^\w+:/.test(target));
  const dead = inside.filter(({ page, target }) => {
    const { pathname, hash } = new URL(target, `http://site${page}`);
    const found = pages.get(pathname);
    return found === undefined || (hash !== '' && !found.anchors.has(decodeURIComponent(hash.slice(1))));
  });
  expect(dead).toEqual([]);
  expect(inside.length).toBeGreaterThan(500);
  const leaving = links.filter(({ target }) => target.startsWith(home));
  const files = leaving.map(({ target }) => target.slice(home.length).split('#')[0]);
  expect(files.filter((path) => !existsSync(root + path))).toEqual([]);
  expect(files.length).toBeGreaterThan(0);
});
