import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { burdenIndex, SMALL_WHEEL } from '../fixtures/burden-index.ts';

const program = fileURLToPath(new URL('./loaded-files.mjs', import.meta.url));
const built = (entry: string, ending = 'js') => new URL(`../../lib/${entry}.${ending}`, import.meta.url).href;

/** The files that are loaded by an entry point, and by what is done with it then. */
const filesOf = (entry: string, code = '', ending = 'js', env: NodeJS.ProcessEnv = {}): string[] =>
  JSON.parse(
    execFileSync(process.execPath, [program, built(entry, ending), code], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    }),
  );

/** Node's own modules that an entry point loads, and an empty program does not. */
function builtinsOf(entry: string): string[] {
  const empty = new URL('./empty.mjs', import.meta.url).href;
  const code = `await import(${JSON.stringify(empty)});
    const before = new Set(process.moduleLoadList);
    await import(${JSON.stringify(built(entry))});
    process._rawDebug(JSON.stringify(process.moduleLoadList.filter((name) => !before.has(name))));`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' });
  return JSON.parse(stderr);
}

const librariesOf = (files: readonly string[]): string[] =>
  [...new Set(files.flatMap((url) => /node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(url)?.[1] ?? []))].sort();

/** What entries share. Whatever holds a scheduler is `scheduler`, with the engines. */
const [BASE, WHEELS] = ['chunks/base', 'chunks/wheels'];
const SCHEDULER = [BASE, 'chunks/scheduler', WHEELS];
const METRICS = [...SCHEDULER, 'chunks/durable-stats', 'chunks/metric-source'];

/**
 * What each entry may load beside its own file, and how much of it all: kB of ES modules, kB of CommonJS, 3 to 5 %
 * above what was measured (when the turn began to wait until somebody needs it, 5 % more than before: the search for
 * what is wanted next, groups, counts that are asked for; 4 kB more in what all share when Node's functions were found
 * under fakes, and the take-over began to outlive refusals; a sixth more in the scheduler with the contract's third
 * version and refused memory; what every option is checked by went to the wheels when these began to use it, and the
 * assembly is put together from parts; 3 kB in what all share, for Node's deprecated functions and the reasons of the
 * take-over; 1 % in the scheduler for late commands; 4 kB in `net` for http sockets). A budget that is exceeded
 * is to be raised with a reason, or the new module to be loaded where it is first needed; a chunk that is new here has
 * an importer that it should not have, or a module that belongs to another room of `tools/build/package.mjs`.
 */
const mayLoad: [entry: string, chunks: readonly string[], modules: number, commonJs: number][] = [
  ['register', [BASE], 46.5, 56.5],
  ['profile', [BASE], 66, 76],
  ['wheel', [BASE, WHEELS], 113, 125],
  ['index', SCHEDULER, 402, 421],
  ['timers', [...SCHEDULER, 'chunks/default-timers'], 403, 423],
  ['timers-promises', [...SCHEDULER, 'chunks/default-timers'], 403, 423],
  ['prometheus', METRICS, 417, 436],
  ['opentelemetry', METRICS, 417, 436],
  ['dashboard', [...SCHEDULER, 'chunks/durable-stats'], 420, 439],
  ['net', [BASE, WHEELS], 133, 146],
  ['durable', [...SCHEDULER, 'chunks/durable-stats'], 539, 560],
];
/** rolldown's own, in front of every chunk of CommonJS. */
const RUNTIME = 'chunks/rolldown-runtime';

/** Names in `lib`, without their endings, in order. */
const namesOf = (files: readonly string[]): string[] =>
  files.map((url) => url.replace(/^.*\/lib\//, '').replace(/\.c?js$/, '')).sort();

const kilobytesOf = (files: readonly string[]): number =>
  files.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0) / 1000;

test('every entry of the package has its list', () => {
  const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const files = Object.values<{ default?: { default: string } }>(exports).flatMap((to) => to.default?.default ?? []);
  const listed = [...mayLoad.map(([entry]) => entry), 'worker'];
  expect(listed.sort()).toEqual(files.map((file) => /^\.\/lib\/(.+)\.js$/.exec(file)![1]).sort());
});

describe.each(mayLoad)('%s', (entry, chunks, modules, commonJs) => {
  test.each([
    ['js', modules, []],
    ['cjs', commonJs, [RUNTIME]],
  ])('loads its own file and the listed chunks, and no library: as %s, at most %i kB', (ending, kilobytes, more) => {
    const loaded = filesOf(entry, '', ending);
    expect(namesOf(loaded)).toEqual([entry, ...chunks, ...more].sort());
    expect(kilobytesOf(loaded)).toBeLessThanOrEqual(kilobytes);
  });

  test("loads at most 18 modules of Node's own that an empty program does not, and none that sets something up", () => {
    const modules = builtinsOf(entry);
    expect(modules.length).toBeLessThanOrEqual(18);
    expect(modules.filter((name) => /crypto|worker|stream|http|net$|tty|readline|repl/.test(name))).toEqual([]);
  });
});

// The list of a lane that has few entries is some 2 kB of it.
test.each([
  ['cjs', 121],
  ['js', 119],
])("a shard's thread loads one file of the package, and comlink: as %s, at most %i kB", (ending, kilobytes) => {
  const loaded = filesOf('worker', '', ending);
  const own = loaded.filter((url) => !url.includes('/node_modules/'));
  expect(namesOf(own)).toEqual(['worker']);
  expect(librariesOf(loaded)).toEqual(['comlink']);
  expect(kilobytesOf(loaded)).toBeLessThanOrEqual(kilobytes);
});

test.each([
  ['js', []],
  ['cjs', [RUNTIME]],
])('a registered thread loads the scheduler when its wheel takes over, and not before: as %s', (ending, more) => {
  const filesWith = (timers: number, server: string) =>
    namesOf(
      filesOf(
        'register',
        `const set = Array.from({ length: ${timers} }, () => setTimeout(() => {}, 60_000));
         await new Promise((go) => setImmediate(() => setImmediate(go)));
         const { serving } = loaded.registration();
         set.forEach((timer) => clearTimeout(timer));
         if (serving !== '${server}') throw new Error(serving + ' serves');`,
        ending,
        { SHARDWHEEL_TIMERS: '', SHARDWHEEL_TIMERS_FROM: '100' },
      ),
    );
  const few = ['register', BASE, ...more];
  const itsChunks = [...SCHEDULER.slice(1), 'chunks/default-timers'];
  expect(filesWith(40, 'node')).toEqual([...few].sort());
  const many = filesWith(200, 'wheel');
  // What an ES module imports that is required: Node 24 lets it be seen, Node 20 does not.
  const isSeen = ending === 'cjs' || many.includes('chunks/scheduler');
  expect(many).toEqual([...few, 'registered-wheel', ...(isSeen ? itsChunks : [])].sort());
});

test('piscina and comlink are loaded where a thread is wanted, and only there', () => {
  const use = (options: string, then = '') =>
    librariesOf(
      filesOf(
        'index',
        `const scheduler = loaded.createScheduler(${options}); scheduler.cancel(scheduler.scheduleAfter(1, 5));
         ${then} await scheduler.close()`,
      ),
    );
  const until = (isSo: string) => `while (!(${isSo})) await new Promise((go) => setTimeout(go, 10));`;
  expect(use('{ shards: 0 }')).toEqual([]);
  expect(use("{ shards: 'auto' }")).toEqual([]);
  expect(use('{ shards: 1 }', 'await scheduler.ready;')).toEqual(['comlink', 'piscina']);
  const served = `while ((await scheduler.stats()).serving.by !== 'threads') await (${burdenIndex})(scheduler);`;
  const up = until('!(await scheduler.stats()).shards[0].inline');
  expect(use(`{ shards: 'auto', wheel: ${JSON.stringify(SMALL_WHEEL)} }`, `${served} ${up}`)).toEqual([
    'comlink',
    'piscina',
  ]);
  expect(librariesOf(filesOf('wheel', 'loaded.createWheel().schedule(5, 1)'))).toEqual([]);
  expect(librariesOf(filesOf('timers', 'loaded.clearTimeout(loaded.setTimeout(() => {}, 5))'))).toEqual([]);
});
