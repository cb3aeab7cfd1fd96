// The second half of `npm run build`: makes `lib`, which is what a user installs, of the modules and declarations that
// the compiler has written to `dist`.
//
//     lib/*.js, lib/chunks/*.js      the entries as ES modules; what several of them need is in chunks, loaded once
//     lib/*.cjs, lib/chunks/*.cjs    the same chunks as CommonJS, for loaders that cannot `require` an ES module
//     lib/types                      declarations: of an entry for each format, of all else once
//     lib/worker.cjs, lib/worker.js  what a shard's thread runs: one file, in either format
//     lib/cli.js                     the command line, with its libraries inside: a user installs none of them
//     lib/pages                      what browsers load
//     lib/traced                     what file tracers follow, and nobody loads
//
// Nothing is renamed and lines stay lines, so a stack can be read; therefore no source maps are shipped, and no file
// names one.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { writeTracedFiles } from './traced-files.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const lib = join(root, 'lib');
const modules = join(root, 'dist');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The entries that both formats have, by their names in `lib`. */
const entries = Object.values(exports)
  .flatMap(({ require }) => require?.default.match(/^\.\/lib\/(.*)\.cjs$/)[1] ?? [])
  .filter((name) => name !== 'worker');
/** Not for users: loaded by one of the others, when it is needed. */
const inner = ['timers/registered-wheel'];

/** A module's path as regular expressions here expect it, on Windows too. */
const slashed = (id) => id.replaceAll('\\', '/');

/** Bundled packages, whose licences must go along. */
const bundled = new Set();

/**
 * Few chunks, since each file costs a program's start some tenths of a ms. A module belongs to the first room that
 * names it. One that no room names goes where a module of a room imports it, and its other importers then load that
 * whole room: so what a preload needs (`register`, `profile`) is named, in `base`, which each entry loads. What only
 * some entries need is in chunks of its own. `test/package/import-cost` has the list of what each entry may load.
 */
const rooms = [
  {
    name: 'base',
    test: new RegExp(
      [
        'src/(errors|make-folder|patched-property|process|runtime|package-files|unfaked)\\.js',
        'src/(async-context|metrics)/',
        'src/time/native-timers\\.js',
        'src/timers/(likeness|timers-mode)\\.js',
      ].join('|'),
    ),
  },
  { name: 'wheels', test: /src\/(timer-id\.js|wheel\/|extras\/wheels\/)/ },
  {
    name: 'scheduler',
    test: /src\/((assembly|client|hosts|lane|memory|scheduler|shard|sharing|time)\/|(abort-watch|arguments|own-copy|renamed|report-error|waiter)\.js|timers\/create|extras\/exporters\/exported)/,
  },
  { name: 'default-timers', test: /src\/timers\/default-/ },
].map(({ name, test }, at, { length }) => ({ name, test: (id) => test.test(slashed(id)), priority: length - at }));

const quiet = { logLevel: 'warn', checks: { emptyImportMeta: false, preferBuiltinFeature: false } };

async function write(input, options, output) {
  const bundle = await rolldown({ ...quiet, cwd: root, platform: 'node', ...input, ...options });
  const { output: written } = await bundle.write({ comments: false, exports: 'named', ...output });
  await bundle.close();
  for (const { moduleIds = [] } of written) {
    for (const id of moduleIds) {
      const name = slashed(id).match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1];
      if (name !== undefined) bundled.add(name);
    }
  }
}

const isPackage = (id) => !/^(\.|\/|[A-Za-z]:\\)/.test(id);

/** comlink has its adapter for threads in either format, and the worker is CommonJS. */
const adapters = {
  name: 'adapters',
  resolveId: {
    order: 'pre',
    handler: (id) => (id === ADAPTER ? { id: 'comlink/dist/umd/node-adapter.js', external: true } : null),
  },
};
const ADAPTER = 'comlink/dist/esm/node-adapter.mjs';

async function writeEntries() {
  const input = Object.fromEntries(
    [...entries.map((name) => `entries/${name}`), ...inner].map((path) => [
      basename(path),
      join(modules, 'src', `${path}.js`),
    ]),
  );
  for (const [format, ending] of [
    ['es', 'js'],
    ['cjs', 'cjs'],
  ]) {
    await write(
      { input, external: isPackage },
      {},
      {
        dir: lib,
        format,
        entryFileNames: `[name].${ending}`,
        chunkFileNames: `chunks/[name].${ending}`,
        dynamicImportInCjs: false,
        codeSplitting: { groups: rooms },
        minifyInternalExports: false,
      },
    );
  }
}

/** The pool calls `module.exports`. The ES module is for bundlers whose worker shall be one. */
async function writeWorker() {
  const input = { worker: join(modules, 'workers/shard.js') };
  const external = (id) => isPackage(id) && id !== ADAPTER;
  const names = { dir: lib, exports: 'auto' };
  await write({ input, external, plugins: [adapters] }, {}, { ...names, format: 'cjs', entryFileNames: '[name].cjs' });
  await write({ input, external: isPackage }, {}, { ...names, format: 'es', entryFileNames: '[name].js' });
  const early = { 'working-directory': join(modules, 'workers/working-directory.cjs') };
  await write({ input: early }, {}, { ...names, format: 'cjs', entryFileNames: '[name].cjs' });
  const type =
    "/** What a shard's thread runs: the pool alone calls it. */\ndeclare function serve(task: unknown): number;\n";
  writeFileSync(join(lib, 'worker.d.cts'), `${type}export = serve;\n`);
  writeFileSync(join(lib, 'worker.d.ts'), `${type}export default serve;\n`);
}

/** The package itself stays outside: what the command line measures is what a program imports. */
async function writeCommandLine() {
  const external = (id) => /^(node:|shardwheel(\/|$)|comlink(\/|$))/.test(id);
  const output = { dir: lib, format: 'es', entryFileNames: '[name].js', codeSplitting: false, minify: true };
  await write({ input: { cli: join(modules, 'tools/cli/main.js') }, external }, {}, output);
}

/** A style sheet with those that it imports. */
function styleSheet(path) {
  bundled.add('uplot');
  return readFileSync(path, 'utf8').replace(/^@import "(.+)";$/gm, (_, wanted) =>
    styleSheet(wanted.startsWith('.') ? join(dirname(path), wanted) : join(root, 'node_modules', wanted)),
  );
}

/** A page with its style sheet and script within: it loads nothing, so it may be under any path. */
function whole(html, source, target) {
  const within = [
    ['<link rel="stylesheet" href="style.css" />', 'style', styleSheet(join(source, 'style.css'))],
    ['<script type="module" src="main.ts"></script>', 'script', readFileSync(join(target, 'main.js'), 'utf8')],
  ];
  return within.reduce((page, [reference, name, text]) => {
    if (page.split(reference).length !== 2) throw new Error(`The page has to name its ${name} once, as ${reference}`);
    if (text.includes(`</${name}`)) throw new Error(`The page's ${name} would end within its text`);
    const begin = name === 'script' ? '<script type="module">' : '<style>';
    return page.replace(reference, () => `${begin}${text}</${name}>`);
  }, html);
}

async function writePages() {
  for (const page of ['dashboard', 'profile']) {
    const source = join(root, 'src/extras', page, 'page');
    const target = join(lib, 'pages', page);
    const options = { platform: 'browser', moduleTypes: { '.css': 'text' } };
    await write({ input: { main: join(source, 'main.ts') } }, options, {
      dir: target,
      format: 'iife',
      exports: 'none',
      entryFileNames: '[name].js',
      minify: true,
    });
    if (page === 'profile') continue; // its report is made when there is one, and holds all in one file as well
    const html = readFileSync(join(source, 'page.html'), 'utf8');
    writeFileSync(join(target, 'page.html'), whole(html, source, target));
    rmSync(join(target, 'main.js'));
  }
}

/**
 * The declarations that the entries reach. An entry has one for each format, since TypeScript takes the format of a
 * declaration for that of the code. All others are there once, as CommonJS, which both may import: so a scheduler that
 * was imported and one that was required have the same type.
 */
function writeTypes() {
  const source = join(modules, 'src');
  const ofEntries = new Set(entries.map((name) => join(source, 'entries', `${name}.d.ts`)));
  const queue = [...ofEntries];
  const seen = new Set(queue);
  for (const path of queue) {
    const text = readFileSync(path, 'utf8').replace(/\/\/# sourceMappingURL=.*\n?/, '');
    const isEntry = ofEntries.has(path);
    for (const ending of isEntry ? ['ts', 'cts'] : ['cts']) {
      const renamed = text.replace(/((?:from |import\()['"])(\.[^'"]+)\.[jt]s(['"])/g, (_, before, named, after) => {
        const found = join(dirname(path), `${named}.d.ts`);
        if (!seen.has(found)) queue.push(found);
        seen.add(found);
        return `${before}${named}.${ending === 'ts' && ofEntries.has(found) ? 'js' : 'cjs'}${after}`;
      });
      const target = join(lib, 'types', relative(source, path).replace(/ts$/, ending));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, renamed);
    }
  }
}

function writeLicences() {
  const texts = [...bundled].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} has no licence that could go along`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  writeFileSync(join(lib, 'LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

rmSync(lib, { recursive: true, force: true });
await writeEntries();
await writeWorker();
await writeCommandLine();
await writePages();
writeTracedFiles(lib, entries);
writeTypes();
writeLicences();
