import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { anchorsOf, read, root } from '../docs/documents.ts';

// What actionlint, a part of `npm run lint`, does not look at.

const namesIn = (folder: string): string[] =>
  readdirSync(`${root}.github/${folder}`).map((name) => `.github/${folder}/${name}`);

const workflows = namesIn('workflows').map((path) => ({ path, text: read(path) }));

/** The labels that a new repository has, and those that dependabot makes. */
const labels = [
  'bug',
  'documentation',
  'duplicate',
  'enhancement',
  'good first issue',
  'help wanted',
  'invalid',
  'question',
  'wontfix',
];

describe('a workflow', () => {
  test('pins each action to a commit, and says of which release it is; one release of each in all of them', () => {
    const uses = workflows.flatMap(({ path, text }) =>
      [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, used]) => ({ path, used })),
    );
    expect(uses.filter(({ used }) => !/^[\w-]+\/[\w-/]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used))).toEqual([]);
    const releases = new Map<string, Set<string>>();
    for (const { used } of uses) {
      const [, action, release] = /^([\w-]+\/[\w-]+)[^@]*@(.*)$/.exec(used) ?? [];
      releases.set(action, (releases.get(action) ?? new Set()).add(release));
    }
    expect([...releases].filter(([, each]) => each.size > 1)).toEqual([]);
    expect(releases.size).toBeGreaterThan(5);
  });

  test('may read, and what a job may write it says itself, with the reason', () => {
    for (const { path, text } of workflows) {
      expect(/^permissions:(?: \{\}|\n {2}contents: read)\n\n/m.test(text), path).toBe(true);
      const writes = [...text.matchAll(/^ {6}[\w-]+: write.*$/gm)].map(([line]) => line);
      expect(/: write/.test(text.replaceAll(/^ {6}[\w-]+: write.*$/gm, '')), path).toBe(false);
      expect(
        writes.filter((line) => !/# \w/.test(line) && !/pages: write/.test(line)),
        path,
      ).toEqual([]);
    }
  });

  test('leaves no credentials in a checkout, and ends', () => {
    for (const { path, text } of workflows) {
      const checkouts = text.match(/uses: actions\/checkout@/g) ?? [];
      expect(text.match(/persist-credentials: false/g)?.length ?? 0, path).toBe(checkouts.length);
      const jobs = text.match(/^ {4}runs-on:/gm) ?? [];
      expect(text.match(/^ {4}timeout-minutes: \d+$/gm)?.length, path).toBe(jobs.length);
    }
  });

  test('lints once for all systems and releases', () => {
    const { text } = workflows.find(({ path }) => path.endsWith('/test.yml')) as { text: string };
    const [, matrix] = text.split(/^ {2}test:$/m);
    expect(text.match(/npm run lint/g)).toHaveLength(1);
    expect(matrix).not.toMatch(/lint|npm test/);
  });

  test('runs scripts that there are', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = workflows.flatMap(({ text }) => [
      ...text.matchAll(/npm (?:run )?(test|build|lint|mutation|docs:\w+)\b/g),
    ]);
    expect(named.filter(([, name]) => !(name in scripts))).toEqual([]);
    const files = workflows.flatMap(({ text }) => [...text.matchAll(/node (tools\/[\w/.-]+)/g)]);
    expect(files.filter(([, file]) => !existsSync(root + file))).toEqual([]);
    expect(named.length + files.length).toBeGreaterThan(5);
  });
});

test('an issue gets a label that there is', () => {
  const named = namesIn('ISSUE_TEMPLATE').flatMap((path) =>
    [...read(path).matchAll(/^labels: \[(.*)\]$/gm)].map(([, each]) => each),
  );
  expect(named.filter((label) => !labels.includes(label))).toEqual([]);
  expect(named.length).toBeGreaterThan(0);
});

test('what a template or the owners name of the repository is there', () => {
  const home = 'https://github.com/shardwheel/shardwheel/blob/main/';
  const texts = [...namesIn('ISSUE_TEMPLATE'), '.github/PULL_REQUEST_TEMPLATE.md'].map(read);
  const links = texts.flatMap((text) => [
    ...text.matchAll(/https:\/\/github\.com\/shardwheel\/shardwheel\/blob\/main\/([\w./#-]+)/g),
  ]);
  const dead = links.filter(([, link]) => {
    const [path, anchor] = link.split('#');
    return !existsSync(root + path) || (anchor !== undefined && !anchorsOf(read(path)).has(anchor));
  });
  expect(dead).toEqual([]);
  expect(links.length).toBeGreaterThan(1);
  expect(texts.join('\n').replaceAll(home, '')).not.toMatch(/\bdocs\/(?!operate\.md#)[\w-]+\.md/);
  const owned = [...read('.github/CODEOWNERS').matchAll(/^\/(\S+)/gm)].map(([, path]) => path);
  expect(owned.filter((path) => !existsSync(root + path))).toEqual([]);
});

test('SECURITY.md says which versions get fixes, this one among them', () => {
  const [major] = JSON.parse(read('package.json')).version.split('.');
  expect(read('SECURITY.md')).toMatch(new RegExp(`^\\| ${major}\\.x[^|]*\\| yes`, 'm'));
});
