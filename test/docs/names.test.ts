import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  anchorsOf,
  api,
  below,
  codesOfTheSources,
  documents,
  entries,
  exportsOf,
  read,
  root,
  sources,
} from './documents.ts';

// What a document names is there: files, headings, options, codes, exports, flags.

const found = (pattern: RegExp) =>
  documents.flatMap((document) =>
    [...read(document).matchAll(pattern)].map(([, ...groups]) => ({ document, name: groups[0], rest: groups[1] })),
  );

/** `a/{b,c}.ts` for each. */
function expanded(path: string): string[] {
  const [, before, choices, after] = /^(.*?)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  return before === undefined ? [path] : choices.split(',').flatMap((choice) => expanded(before + choice + after));
}

describe('a document', () => {
  test('links to files, and headings, that there are', () => {
    const home = 'https://github.com/shardwheel/shardwheel/blob/main/';
    const targets = found(/(?:\]\(|\b(?:src|srcset|href)=")([^)"\s]+)/g);
    const links = targets.filter(({ name }) => name.startsWith(home) || !/^\w+:/.test(name));
    const dead = links.filter(({ document, name }) => {
      const [path, anchor] = name.replace(home, '').replace('?raw=true', '').split('#');
      const file = name.startsWith(home) ? path : path === '' ? document : join(dirname(document), path);
      if (!existsSync(root + file)) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(read(file)).has(anchor);
    });
    expect(dead).toEqual([]);
    expect(links.length).toBeGreaterThan(150);
  });

  test('names files and folders that there are', () => {
    const paths = found(/`((?:src|workers|test|bench|examples|tools|docs|\.ci)\/[\w./{},-]+)`/g);
    // as vitest is asked
    const isThere = (path: string) => ['', '.test.ts', '.long.test.ts'].some((end) => existsSync(root + path + end));
    expect(paths.filter(({ name }) => !expanded(name).every(isThere))).toEqual([]);
    expect(paths.length).toBeGreaterThan(150);
  });

  test('that a source names is there', () => {
    const pages = sources.flatMap((text) => text.match(/\bdocs\/[\w/-]+\.md/g) ?? []);
    expect(pages.filter((path) => !existsSync(root + path))).toEqual([]);
    expect(pages.length).toBeGreaterThan(15);
  });

  test('names codes that the package has', () => {
    const named = found(/`((?:ERR|SHARDWHEEL)_[A-Z_]+|ABORT_ERR)\b/g);
    const variables = sources.flatMap((text) => text.match(/\bSHARDWHEEL_[A-Z_]+/g) ?? []);
    const tools = ['SHARDWHEEL_TOKEN', 'SHARDWHEEL_SEED', 'SHARDWHEEL_SLOW', 'SHARDWHEEL_MUTATED'];
    const known = new Set([...codesOfTheSources, ...variables, ...tools]);
    expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(60);
  });

  test('imports what the package exports', () => {
    const imports = found(/import (?:\w+, )?\{([^}]*)\} from '(shardwheel[\w/]*)'/g);
    const unknown = imports.flatMap(({ document, name, rest: entry }) => {
      const names = name.split(',').map((each) => each.trim().replace(/^type | as .*$/g, ''));
      const known = exportsOf(entry);
      const missing = names.filter((each) => each !== '' && !known.includes(each));
      return missing.map((each) => `${document}: ${entry} ${each}`);
    });
    expect(unknown).toEqual([]);
    expect(imports.every(({ rest }) => entries.has(rest))).toBe(true);
    expect(imports.length).toBeGreaterThan(20);
  });

  /** The options of each interface, as the generated page of the API has them. */
  const optionsOf = (type: string): string[] =>
    [...(below(`## ${type}`, api) ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const calls: Readonly<Record<string, string>> = {
    createScheduler: 'SchedulerOptions',
    connectScheduler: 'SchedulerConnectOptions',
    createTimers: 'TimersOptions',
    label: 'LabelOptions',
    withTimeout: 'WaitOptions',
    openDurableTimers: 'DurableOptions',
    serveDashboard: 'DashboardOptions',
    bullmqStore: 'BullmqStoreOptions',
    lmdbStore: 'LmdbStoreOptions',
  };

  test('gives options that there are', () => {
    const given = found(/\b(\w+)\((?:[^(){}\n]*, )?\{ ([^{}\n]*)[}{]/g).filter(({ name }) =>
      Object.hasOwn(calls, name),
    );
    const unknown = given.flatMap(({ document, name, rest }) => {
      const known = optionsOf(calls[name]);
      expect(known.length, calls[name]).toBeGreaterThan(0);
      const keys = [...rest.matchAll(/(?:^|, )(\w+)\b(?=:|,| |$)/g)].map(([, key]) => key);
      return keys.filter((key) => !known.includes(key)).map((key) => `${document}: ${name}({ ${key} })`);
    });
    expect(unknown).toEqual([]);
    expect(given.length).toBeGreaterThan(30);
    const threads = found(/`thread\.(\w+)`/g);
    expect(threads.filter(({ name }) => !optionsOf('ThreadOptions').includes(name))).toEqual([]);
  });

  test('names flags of commands that there are', () => {
    const text = ['cli/profile.ts', 'plan/plan-options.ts'].map((path) => read(`tools/${path}`)).join('\n');
    const cells = [...read('docs/decide.md').matchAll(/^\| `--[a-z-]+[^|]*\|/gm)];
    const flags = cells.flatMap(([cell]) => cell.match(/--[a-z-]+/g) ?? []);
    expect(flags.filter((flag) => !text.includes(flag))).toEqual([]);
    expect(flags.length).toBeGreaterThan(15);
  });
});

/** A number that a page states, and the line of the source that it comes from. */
const stated: readonly [document: string, text: string, path: string, line: string][] = [
  ['decide', "more than a fifth of the loop's time", 'hosts/thread-policy', 'MAX_INLINE_SHARE = 0.2'],
  ['drop-in', 'until 16,384 are live', 'timers/timers-mode', 'FROM = 16_384'],
  ['guide', 'at most 1,024 names', 'sharing/label-factors', 'MAX_SCALED = 1024'],
  [
    'drop-in',
    'at least 1,024 of them, for about 4 ms',
    'client/home/home-timers',
    'TURN_CALLS = 1024;\nconst TURN_TIME_MS = 4;',
  ],
  ['design', '4 ms earlier if a thread has to file it', 'client/client-turns', 'LEAD_MS = 4;'],
  ['design', 'due within 64 ms', 'client/client-turns', 'PUBLISH_WITHIN_MS = 64;'],
  ['design', 'in an idle loop one comes within a second', 'client/client-turns', 'RELEASE_WITHIN_MS = 1000;'],
  ['design', '4,096 commands', 'lane/command-stage', 'CHUNK_ENTRIES = 4096;'],
  ['design', '1,024 in a lane', 'client/client-lane', 'RELEASE_LIMIT = 1024;'],
  ['design', 'at least a 64th of what was staged', 'shard/local-lane', 'MIN_SHARE = 1 / 64;'],
  ['design', '| command ring | 65,536 |', 'lane/lane-memory', 'commands: 2 ** 16'],
  ['design', '| fired ring | 8,192 |', 'lane/lane-memory', 'fired: 2 ** 13'],
  ['design', '16,384 commands, ', 'shard/shard', 'TURN_BUDGET = 16_384'],
  ['capacity', '4,194,304 (2^22) by default', 'assembly/options', 'capacity = 2 ** 22'],
  ['capacity', 'at most 1,024 shards', 'assembly/options', 'MAX_SHARDS = 1024'],
  ['capacity', 'at most 1,024 clients', 'sharing/board', 'MAX_CLIENTS = 1024'],
  ['capacity', 'at most 254 labels', 'client/labels/label-registry', 'MAX_LABELS = 254'],
  ['operate', 'at most 20 ms', 'assembly/sharing', 'PATIENCE_MS = 20;'],
  ['guide', 'at most 254 labels', 'client/labels/label-registry', 'MAX_LABELS = 254'],
  ['guide', 'at most 128 characters', 'client/labels/label-registry', 'MAX_LENGTH = 128'],
  ['guide', 'a quarter of a millisecond in each turn', 'client/labels/rescaling', 'SLICE_MS = 0.25'],
  ['guarantees', '1 µs for each slot in use', 'hosts/watchdog', 'SLOT_MS = 0.001'],
  ['guarantees', 'four times as long, up to 10 s, until ten minutes', 'hosts/watchdog', 'MAX_GROWN = 10_000'],
];

test.each(stated)('docs/%s.md says "%s", as the code', (document, text, path, line) => {
  expect(read(`docs/${document}.md`).replace(/\s+/g, ' ')).toContain(text);
  expect(read(`src/${path}.ts`)).toContain(line);
});

test('each decision is listed, and has at most 40 lines', () => {
  const list = read('docs/adr/README.md');
  const decisions = documents.filter((path) => /^docs\/adr\/\d/.test(path));
  expect(decisions.filter((path) => !list.includes(`(${path.slice('docs/adr/'.length)})`))).toEqual([]);
  expect(decisions.filter((path) => read(path).split('\n').length > 41)).toEqual([]);
  expect(decisions.length).toBeGreaterThan(20);
});

test('docs/operate.md has every code that the package throws, reports or warns of, and no other', () => {
  /** What a variable of the environment is named is no code. */
  const variables = ['SHARDWHEEL_TIMERS', 'SHARDWHEEL_TIMERS_FROM', 'SHARDWHEEL_PROFILE_SECONDS'];
  const listed = [...read('docs/operate.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code).sort();
  expect(listed).toEqual([...codesOfTheSources].filter((code) => !variables.includes(code)).sort());
  expect(listed.length).toBeGreaterThan(20);
});
