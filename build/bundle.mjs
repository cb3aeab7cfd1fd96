// The second half of `npm run build`: puts the code of the command line's libraries into dist/vendor, so that whoever installs
// shardwheel installs none of them, and makes one script of each page's sources. Their licences go along.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const libraries = readdirSync(join(root, 'vendor')).map((name) => join('vendor', name));
/** Scripts that browsers run: each is one file, with the plotting library in it. */
const pages = ['pages/dashboard/main.ts', 'pages/profile/main.ts'].filter((path) => existsSync(join(root, path)));
/** What the dashboard's server sends beside its script. */
const documents = ['pages/dashboard/page.html', 'pages/dashboard/style.css'];

/** A library of CommonJS asks for Node's own modules by `require`, which a module of ours does not have. */
const banner = {
  js: "import { createRequire as createRequireOf } from 'node:module';\nconst require = createRequireOf(import.meta.url);",
};
const common = { absWorkingDir: root, bundle: true, minify: true, metafile: true, legalComments: 'none', outbase: '.' };
const bundled = await Promise.all([
  build({
    ...common,
    entryPoints: libraries,
    outdir: 'dist',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner,
  }),
  build({
    ...common,
    entryPoints: pages,
    outdir: 'dist',
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    loader: { '.css': 'text' },
  }),
  build({ ...common, entryPoints: documents, outdir: 'dist', target: 'es2022', loader: { '.html': 'copy' } }),
]);

const inputs = bundled.flatMap(({ metafile }) => Object.keys(metafile.inputs));
const packages = new Set(inputs.flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []));
const licences = [...packages].sort().map((name) => {
  const folder = join(root, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence that could go along`);
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
});
writeFileSync(join(root, 'dist/vendor/LICENSES.txt'), licences.join(`\n${'-'.repeat(80)}\n\n`));
