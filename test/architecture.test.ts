import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { below, read } from './docs/documents.ts';
import { type SourceFile, sourcesIn } from './fixtures/source-files.ts';

const isPage = ({ path }: SourceFile) => /^src\/extras\/\w+\/page\//.test(path);
const src = sourcesIn('src').filter((file) => !isPage(file));
const shipped = [...src, ...sourcesIn('workers')];
/** What browsers run. */
const pages = sourcesIn('src').filter(isPage);
const measuring = sourcesIn('bench/replay', 'tools/plan', 'tools/soak', 'bench');
const all = [...shipped, ...pages, ...measuring, ...sourcesIn('tools/cli', 'test', 'examples')];

/**
 * The room of src that a path belongs to: its folder, or for files at the top their name. The wing has rooms of its
 * own.
 */
function partOf(path: string): string {
  const [, part, wing] = path.split('/');
  return part === 'extras' ? `${part}/${wing}` : part.replace(/\.ts$/, '');
}

/** Every import of one part of src by another, as `importer -> imported`, that `isAllowed` does not allow. */
function strayImports(files: readonly SourceFile[], isAllowed: (from: string, to: string) => boolean): string[] {
  return files.flatMap(({ path, imports }) =>
    imports.filter((to) => !isAllowed(path, to)).map((to) => `${path} -> ${to}`),
  );
}

/** Files whose code a pattern is found in. */
const filesWith = (files: readonly SourceFile[], pattern: RegExp): string[] =>
  files.filter(({ code }) => pattern.test(code)).map(({ path }) => path);

/** The rooms of src, as docs/design.md lists them. Imports run to rooms of a smaller height, or within the room. */
const heights = new Map(
  [...below('## The folders', read('docs/design.md'))!.matchAll(/^ ?(-?\d+) {2}([\w/-]+) +\S/gm)].map(
    ([, height, name]): [string, number] => [name, Number(height)],
  ),
);

test('there are sources to judge', () => {
  expect(src.length).toBeGreaterThan(50);
  expect(measuring.length).toBeGreaterThan(50);
  expect(all.length).toBeGreaterThan(100);
  expect(src.reduce((sum, { imports }) => sum + imports.length, 0)).toBeGreaterThan(200);
});

describe('imports', () => {
  test('every room of src has its height, and docs/design.md says what it is for', () => {
    expect([...new Set(src.map(({ path }) => partOf(path)))].sort()).toEqual([...heights.keys()].sort());
  });

  test('run downwards, and not at all between client and shard', () => {
    const stray = strayImports(src, (from, to) => {
      if (!to.startsWith('src/')) return true;
      const [upper, lower] = [partOf(from), partOf(to)];
      return upper === lower || heights.get(lower)! < heights.get(upper)!;
    });
    expect(stray).toEqual([]);
  });

  test('no file imports itself by a detour, not even for types, within a folder or beyond', () => {
    const importsOf = new Map(all.map(({ path, imports }) => [path, imports.filter((to) => to !== path)]));
    const done = new Set<string>();
    const circles = new Set<string>();
    const visit = (path: string, way: readonly string[]): void => {
      if (way.includes(path)) circles.add([...way.slice(way.indexOf(path)), path].join(' -> '));
      if (way.includes(path) || done.has(path)) return;
      for (const to of importsOf.get(path) ?? []) visit(to, [...way, path]);
      done.add(path);
    };
    for (const path of importsOf.keys()) visit(path, []);
    expect([...circles]).toEqual([]);
    expect(done.size).toBeGreaterThanOrEqual(all.length);
  });

  describe('of the wing, extras,', () => {
    const wing = [...src, ...pages].filter(({ path }) => path.startsWith('src/extras/'));
    const roomOf = ({ path }: SourceFile) => partOf(path);
    const outside = wing.flatMap((file) =>
      file.names
        .filter((name) => name.startsWith('src/') && !name.startsWith('src/extras/'))
        .map((name) => ({ from: file.path, room: roomOf(file), name, to: name.replace(/#.*/, '') })),
    );

    test('know the base: these rooms, and no more than they need', () => {
      const paths = wing.map(({ names }) => [...new Set(names.map((name) => name.replace(/#.*/, '')))].sort());
      expect(paths).toEqual(wing.map(({ imports }) => [...new Set(imports)].sort())); // no import is overlooked
      const base =
        'arguments async-context errors known-options make-folder memory metrics own-copy package-files'.split(' ');
      base.push(
        ...'patched-property process report-error runtime show time timer-id unfaked waiter warn-once'.split(' '),
      );
      const known = new Set(outside.map(({ to }) => partOf(to)));
      expect([...known].sort()).toEqual([...base, 'scheduler', 'wheel'].sort());
      const above = base.filter((room) => heights.get(room)! >= heights.get('sharing')!);
      expect(above).toEqual([]);
    });

    test('know of the core public names of the scheduler, in six files; and wheels the engines', () => {
      const exported = new Set(src.find(({ path }) => path === 'src/entries/index.ts')!.names);
      const core = outside.filter(({ to }) => partOf(to) === 'scheduler');
      const stray = core.filter(({ name }) => !exported.has(name));
      expect(stray.map(({ from, name }) => `${from} -> ${name}`)).toEqual([]);
      expect(new Set(core.map(({ to }) => to)).size).toBe(6);
      const engines = outside.filter(({ to }) => partOf(to) === 'wheel').map(({ room }) => room);
      expect([...new Set(engines)]).toEqual(['extras/wheels']);
    });

    test('come by no door of the core, which drop-in timers have; and how a timer ends, durable timers alone are told', () => {
      const doors = filesWith([...shipped, ...pages], /\bcoordinatorOf\b/);
      expect(doors).toEqual(['src/scheduler/scheduler.ts', 'src/timers/timeout-source.ts']);
      const waiting = outside.filter(({ to }) => to === 'src/waiter.ts').map(({ from }) => from);
      expect([...new Set(waiting)]).toEqual(['src/extras/durable/unstored/alarms.ts']);
    });

    test('lead to it from the entries alone', () => {
      const others = shipped.filter(({ path }) => !/^src\/(extras|entries)\//.test(path));
      expect(strayImports(others, (_, to) => !to.startsWith('src/extras/'))).toEqual([]);
      expect(others.length).toBeGreaterThan(150);
    });
  });

  test('clients, hosts and the scheduler know of wheels only how they are configured', () => {
    const known = ['src/wheel/presets.ts', 'src/wheel/wheel-config.ts', 'src/wheel/tick-index.ts'];
    const users = src.filter(({ path }) => ['assembly', 'client', 'hosts', 'scheduler'].includes(partOf(path)));
    expect(users.length).toBeGreaterThan(30);
    const stray = strayImports(users, (_, to) => !to.startsWith('src/wheel/') || known.includes(to));
    // of drop-in timers, handed in
    expect(stray).toEqual(['src/assembly/served-client.ts -> src/wheel/create-index.ts']);
  });

  test('whoever is outside of src/wheel gets an engine from create-index, and sees a TickIndex', () => {
    const known = ['presets', 'wheel-config', 'create-index', 'tick-index'].map((name) => `src/wheel/${name}.ts`);
    const outside = shipped.filter(
      ({ path }) => !/^src\/(wheel|extras\/wheels)\/|^src\/entries\/wheel\.ts$/.test(path),
    );
    expect(strayImports(outside, (_, to) => !to.startsWith('src/wheel/') || known.includes(to))).toEqual([]);
  });

  test('a thread entry is imported by nobody', () => {
    expect(strayImports([...src, ...measuring], (_, to) => !to.startsWith('workers/'))).toEqual([]);
  });

  test('what is shipped knows nothing of what measures it', () => {
    expect(strayImports(shipped, (_, to) => !/^(tools|bench|examples|test)\/|\/page\//.test(to))).toEqual([]);
    expect(strayImports(pages, (_, to) => !/^(tools|bench|examples|test)\//.test(to))).toEqual([]);
    const packed = sourcesIn('tools/cli', 'bench/replay', 'tools/plan');
    expect(strayImports(packed, (_, to) => !/^(tools\/soak|bench\/(?!replay\/)|examples\/|test\/)/.test(to))).toEqual(
      [],
    );
    expect(strayImports(measuring, (_, to) => !to.startsWith('test/'))).toEqual([]);
  });

  test('the wheels are pure: no threads, no shared memory, no clock, no process', () => {
    const wheel = src.filter(({ path }) => /^src\/(wheel|extras\/wheels)\//.test(path));
    const below = ['errors', 'known-options', 'timer-id', 'memory/own-words'].map((name) => `src/${name}.ts`);
    expect(wheel.length).toBeGreaterThan(25);
    const isWithin = (to: string) => /^src\/(wheel|extras\/wheels)\//.test(to) || below.includes(to);
    expect(strayImports(wheel, (_, to) => isWithin(to))).toEqual([]);
    const impure = [
      /\b(Atomics|SharedArrayBuffer|Worker|MessageChannel|MessagePort|BroadcastChannel)\b/,
      /\b(process|performance|globalThis|console)\b\s*[.([]/,
      /\bDate\b|\bhrtime\b|\bMath\.random\b/,
      /\b(set|clear)(Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bimport\s*\(/,
    ];
    for (const pattern of impure) expect(filesWith(wheel, pattern)).toEqual([]);
  });

  test('shared memory is allocated where its words are named, and atomics are used where lanes, clock and shards are, and warnings are shared', () => {
    const maps = ['src/memory/shared-words.ts', 'src/lane/lane-memory.ts'];
    expect(filesWith(shipped, /\bnew SharedArrayBuffer\b/).filter((path) => !maps.includes(path))).toEqual([]);
    const parts = new Set(filesWith(shipped, /\bAtomics\./).map(partOf));
    expect([...parts].sort()).toEqual(['client', 'hosts', 'lane', 'shard', 'sharing', 'time', 'warn-once']);
  });

  test('a library that threads, metrics or stores need is imported for its types alone', () => {
    const libraries = /^(piscina|comlink|lmdb|bullmq|ioredis|prom-client|@opentelemetry\/api)(\/|$)/;
    const loading = src.flatMap(({ path, loads }) =>
      loads.filter((to) => libraries.test(to)).map((to) => `${path} -> ${to}`),
    );
    expect(loading).toEqual([]);
    expect(strayImports(src, (_, to) => !libraries.test(to)).length).toBeGreaterThan(5);
  });

  test("nothing imports `node:process`, and src no module of Node's that is dear to import", () => {
    const process = /^(node:)?process$/;
    expect(strayImports(all, (_, to) => !process.test(to))).toEqual([]);
    const named = ['src/process.ts', 'src/extras/profile/short-report.ts']; // the latter has a local of that name
    const using = src.filter(({ path, code }) => !named.includes(path) && /(^|[^.\w{,] *)process\.\w/m.test(code));
    expect(using.length).toBeGreaterThan(20);
    expect(using.filter(({ imports }) => !imports.includes('src/process.ts')).map(({ path }) => path)).toEqual([]);
    // The import builds a facade that reads every export, and so loads what is loaded at first use:
    // `process.getBuiltinModule`.
    const dear = /^(node:)?(util|fs|fs\/promises|os|v8|net|http|crypto|worker_threads)$/;
    const loading = shipped.flatMap(({ path, loads }) =>
      loads.filter((to) => dear.test(to)).map((to) => `${path} -> ${to}`),
    );
    expect(loading).toEqual([]);
  });

  // tsc sees to all others: bundlers find a page's file without.
  test('relative imports of a page name their file, extension included', () => {
    expect(strayImports(pages, (_, to) => !to.startsWith('src/') || /\.\w+$/.test(to))).toEqual([]);
  });
});

describe('files', () => {
  /** 300 lines is a lot. These are longer, and why. */
  const long: Record<string, string> = {
    'src/client/client.ts': 'every single call of a timer, the hot paths side by side',
    'src/hosts/lane-host.ts': 'one state machine, with each step between its states',
    'src/client/turn-clock.ts':
      'when a turn comes: the native timer, the immediate, and what they hold, decide it together',
    'src/scheduler/timer-group.ts': 'one public class, and most of its lines are docstrings',
    'src/timers/timeout.ts': "Node's Timeout, member by member",
    'bench/proxy/plans.ts': 'a list: what each kind of client does',
    'test/docs/figures.test.ts': 'a list: what each table and picture is held to',
    'src/extras/durable/unstored/unstored.ts': 'one state machine, and the calls that ask for its states',
    'src/extras/durable/durable-timers.ts': 'one class is the public face, and most of its lines are docstrings',
    'src/scheduler/scheduler.ts': 'one class is the public face, and most of its lines are docstrings',
  };

  test('have at most 300 lines, or a reason', () => {
    const unexplained = all.filter(({ path, lines }) => lines > 300 && long[path] === undefined);
    expect(unexplained.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });

  test('are at most twenty in a folder of src', () => {
    const counts = new Map<string, number>();
    for (const { path } of src) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const full = [...counts].filter(([, count]) => count > 20).map(([folder]) => folder);
    expect(full).toEqual([]);
  });

  test('have names in kebab-case, their folders too', () => {
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/;
    const names = all.flatMap(({ path }) =>
      path.replace(/(\.(test|long\.test|d|bench))?\.(ts|mjs|js)$/, '').split('/'),
    );
    expect(names.filter((name) => !kebab.test(name))).toEqual([]);
  });

  test('have names that say what is in them', () => {
    const vague = /^(utils?|common|helpers?|types|misc|shared|lib|constants|index)$/;
    const named = all.filter(({ path }) => path !== 'src/entries/index.ts');
    const stem = (path: string) => basename(path).replace(/\..*$/, '');
    const stray = named.filter(({ path }) =>
      [stem(path), ...dirname(path).split('/').slice(1)].some((name) => vague.test(name)),
    );
    expect(stray.map(({ path }) => path)).toEqual([]);
  });

  test('re-export only where the package is entered, and then do nothing else', () => {
    const names = 'index wheel timers timers-promises prometheus opentelemetry dashboard durable net'.split(' ');
    const entries = names.map((name) => `src/entries/${name}.ts`);
    const barrels = filesWith(all, /\bexport\s+(type\s+)?(\{[^}]*\}|\*)\s+from\b/);
    expect(barrels.filter((path) => !entries.includes(path))).toEqual([]);
    for (const { path, code } of src.filter((file) => entries.includes(file.path))) {
      const rest = code.replace(/\bexport\s+(type\s+)?(\{[^}]*\}|\*)\s+from\s*'';?/g, '').trim();
      expect([path, rest]).toEqual([path, '']);
    }
    const { exports } = JSON.parse(read('package.json'));
    const targets = Object.values(exports).map((target) => {
      const { default: last } = target as { default?: string | { default: string } };
      return typeof last === 'object' ? last.default : last;
    });
    expect(targets).toEqual(expect.arrayContaining(names.map((name) => `./lib/${name}.js`)));
  });
});

describe('code', () => {
  test('never ends the process', () => {
    expect(filesWith(shipped, /\bprocess\s*(\?\.|\.)\s*(exit|abort|kill|reallyExit)\b/)).toEqual([]);
    expect(filesWith(shipped, /(^|[^.\w])exit\s*\(/m)).toEqual([]);
  });

  test('swallows no error without saying why, where it does', () => {
    const swallow = /\bcatch \{|catch\(\(\) => (undefined|\{\})\)|'error', \(\) => (undefined|\{\})\)/;
    const sites = shipped.flatMap(({ path }) => {
      const lines = read(path).split('\n');
      return lines.flatMap((line, at) =>
        swallow.test(line) ? [{ at: `${path}:${at + 1}`, text: [lines[at - 1], line, lines[at + 1]].join('\n') }] : [],
      );
    });
    expect(sites.length).toBeGreaterThan(10);
    expect(sites.filter(({ text }) => !text.includes('// ')).map(({ at }) => at)).toEqual([]);
  });

  test('listens for an exit before it awaits another event of the same thread or process: both can come at once', () => {
    const lateListener = /await once\(([\w.#]+), '\w+'\)[^}]*?await once\(\1, 'exit'\)/;
    expect(all.map(({ path }) => path).filter((path) => lateListener.test(read(path)))).toEqual([]);
  });
});
