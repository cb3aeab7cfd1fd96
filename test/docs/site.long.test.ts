import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { OLD_CALLS } from '../../src/scheduler/renamed.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { TimerView } from '../../src/scheduler/timer-view.ts';
import { api, below as textBelow } from './documents.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const site = `${root}docs/site`;

const run = (command: string, ...argv: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, argv, { cwd: site, encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
};

beforeAll(() => {
  const { status, text } = run('npm', 'ci', '--no-audit', '--no-fund');
  expect(status, text).toBe(0);
}, 200_000);

describe('docs/api', () => {
  test('is as the docstrings have it', () => {
    expect(run('node', 'api.mjs', '--check').text).toContain('docs/api is as the docstrings have it');
  });

  const below = (heading: string): string => {
    const text = textBelow(heading, api);
    expect(text, heading).toBeDefined();
    return text as string;
  };

  test('has every option of a scheduler, each with its default', () => {
    const source = readFileSync(`${root}src/scheduler/options.ts`, 'utf8');
    const options = source.slice(
      source.indexOf('interface SchedulerOptions'),
      source.indexOf('interface SchedulerConnect'),
    );
    const names = [...options.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
    const rows = [...below('## SchedulerOptions').matchAll(/^\| `(\w+)` \| .*? (?<!\\)\| (.*?) (?<!\\)\|/gm)];
    expect(rows.map(([, name]) => name)).toEqual(names);
    for (const [, name, value] of rows) expect(value, name).not.toBe('');
    expect(names.length).toBe(10);
  });

  test('has every call of a scheduler, with what it costs', () => {
    const calls = Object.getOwnPropertyNames(Scheduler.prototype);
    const isCall = (name: string) => !['constructor', 'ready', 'size', ...OLD_CALLS].includes(name);
    const isStart = (name: string) => Object.hasOwn(TimerView.prototype, name);
    for (const name of calls.filter(isCall)) {
      const text = below(`### ${isStart(name) ? 'TimerStarts' : 'Scheduler'}.${name}`);
      expect(text, name).toContain(`${name}`);
      expect(text, name).toContain('**Cost** ');
    }
    expect(calls.filter(isCall).length).toBeGreaterThan(24);
  });
});

test('the site is built, with a page for each document, and no link is dead', () => {
  rmSync(`${site}/dist`, { recursive: true, force: true });
  const { status, text } = run('npm', 'run', 'build');
  expect(status, text).toBe(0);
  for (const folder of ['adr', 'api']) {
    for (const name of readdirSync(`${root}docs/${folder}`)) {
      expect(existsSync(`${site}/dist/docs/${folder}/${name.replace('.md', '.html')}`), name).toBe(true);
    }
  }
  for (const name of readdirSync(`${root}docs`).filter((each) => each.endsWith('.md'))) {
    expect(existsSync(`${site}/dist/docs/${name.replace('.md', '.html')}`), name).toBe(true);
    expect(readFileSync(`${site}/.vitepress/config.mjs`, 'utf8'), name).toContain(`'${name.replace('.md', '')}'`);
  }
  const index = readFileSync(`${site}/dist/index.html`, 'utf8');
  expect(index).toContain('https://github.com/shardwheel/shardwheel');
  expect(index).not.toContain('.md"');
}, 200_000);

/** The pages of the built site by their addresses, each with its anchors and the targets of its links. */
function builtPages() {
  const files = readdirSync(`${site}/dist`, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.html'),
  );
  return new Map(
    files.map((path) => {
      const html = readFileSync(`${site}/dist/${path}`, 'utf8');
      const anchors = new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
      const targets = [...html.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, target]) => target);
      return [`/${path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`, { anchors, targets }];
    }),
  );
}

// VitePress looks whether a page is there, but not whether a heading is.
test('every link of the site leads to a page, and to a heading if it names one', () => {
  const pages = builtPages();
  const links = [...pages].flatMap(([page, { targets }]) => targets.map((target) => ({ page, target })));
  const inside = links.filter(({ target }) => !/^\w+:/.test(target));
  const dead = inside.filter(({ page, target }) => {
    const { pathname, hash } = new URL(target, `http://site${page}`);
    const found = pages.get(pathname);
    return found === undefined || (hash !== '' && !found.anchors.has(decodeURIComponent(hash.slice(1))));
  });
  expect(dead).toEqual([]);
  expect(inside.length).toBeGreaterThan(500);
});

test('a link that leaves the site leads to a file of the repository that is there', () => {
  const home = `${JSON.parse(readFileSync(`${root}package.json`, 'utf8')).homepage.replace('#readme', '')}/blob/main/`;
  const targets = [...builtPages().values()].flatMap((page) => page.targets);
  const files = targets.filter((target) => target.startsWith(home)).map((target) => target.slice(home.length));
  expect(files.filter((path) => !existsSync(root + path.split('#')[0]))).toEqual([]);
  expect(files.length).toBeGreaterThan(0);
});

test('a dead link ends the build', () => {
  // VitePress itself looks; that it has not been told not to is what matters here.
  expect(readFileSync(`${site}/.vitepress/config.mjs`, 'utf8')).not.toContain('ignoreDeadLinks');
});
