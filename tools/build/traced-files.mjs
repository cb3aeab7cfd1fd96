// What file tracers (@vercel/nft, and so the `standalone` output of Next and most platforms of functions) are to find
// beside the imports: the files and packages that the library loads by paths which it finds out at run time
// (`src/package-files.ts`), as a bundler must not resolve them. A tracer reads, and runs nothing: so each built file
// that loads such files gets a function that nobody calls, whose paths a tracer computes and a bundler drops with it.
// Packages are not named there, as a bundler would include them, but in the files of `lib/traced`, which a tracer
// follows and no program loads.
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64'];

/**
 * lmdb finds its binary by the platform's name, so no tracer does. There is one for every Node; where it is not, it is
 * not installed.
 */
const lmdbBinaries = platforms.flatMap((platform) =>
  ['', '/node.napi.node', '/node.napi.glibc.node', '/node.napi.musl.node'].map(
    (file) => `@lmdb/lmdb-${platform}${file}`,
  ),
);

/**
 * By its name in `lib/traced`, what such a file requires. Scripts ending in .js: tracers read no others that they reach
 * by a path.
 */
const traced = {
  threads: ['piscina', 'comlink', 'comlink/dist/umd/node-adapter.js', '../worker.cjs', '../working-directory.cjs'],
  stores: ['lmdb', ...lmdbBinaries, 'bullmq'],
  metrics: ['prom-client'],
  registered: ['../worker.cjs', '../registered-wheel.cjs'],
};

/** By a built file's name without its ending, the files that it loads by path, from `lib`. */
const loaded = {
  'chunks/scheduler': ['traced/threads.js'],
  durable: ['traced/stores.js'],
  prometheus: ['traced/metrics.js'],
  dashboard: ['pages/dashboard/page.html', 'worker.cjs'],
  register: ['traced/registered.js', 'registered-wheel.js'],
};

/**
 * `entries`: the names of all that have both formats. Where Node requires the ES module, a tracer may follow the
 * CommonJS one.
 */
export function writeTracedFiles(lib, entries) {
  mkdirSync(join(lib, 'traced'));
  writeFileSync(join(lib, 'traced/package.json'), '{ "type": "commonjs" }\n');
  for (const [name, specifiers] of Object.entries(traced)) {
    const calls = specifiers.map((specifier) => `require(${JSON.stringify(specifier)});\n`);
    writeFileSync(join(lib, `traced/${name}.js`), `// For file tracers: nobody loads this.\n${calls.join('')}`);
  }
  for (const name of new Set([...entries, ...Object.keys(loaded)])) {
    const paths = loaded[name] ?? [];
    const twin = entries.includes(name) ? [`${name}.js`] : [];
    point(lib, `${name}.js`, paths);
    point(lib, `${name}.cjs`, [...paths, ...twin]);
  }
}

function point(lib, name, paths) {
  if (paths.length === 0) return;
  const file = join(lib, name);
  const lines = paths.map((path) => {
    if (!existsSync(join(lib, path))) throw new Error(`${name} loads ${path}, which has not been built`);
    const from = JSON.stringify(`./${relative(dirname(file), join(lib, path)).replaceAll('\\', '/')}`);
    if (name.endsWith('.cjs')) return `\t__dirname + ${from.replace('"./', '"/')};\n`;
    return `\tnew URL(/* webpackIgnore: true */ ${from}, import.meta.url);\n`;
  });
  appendFileSync(file, `// For file tracers: nobody calls this.\nfunction traced() {\n${lines.join('')}}\n`);
}
