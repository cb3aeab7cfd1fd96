// The third part of `npm run build`: dist/src/commonjs, for loaders that cannot `require` an ES module (Jest, older bundlers). Node
// itself can, from 20.19 on, and is given the ES modules by both, so that a program has one copy of the library. The entries share
// chunks, and with them their state and their classes; each file is then put into the other format.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'dist/src');
const target = join(modules, 'commonjs');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.values(exports).flatMap((entry) => entry.require?.default ?? []);
const nameOf = (path) => path.match(/commonjs\/(.*)\.cjs$/)[1];

rmSync(target, { recursive: true, force: true });
const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: entries.map((path) => join('dist/src', `${nameOf(path)}.js`)),
  outdir: 'dist/src/commonjs',
  outExtension: { '.js': '.cjs' },
  chunkNames: '[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  target: 'node20',
  write: false,
});
for (const { path, text } of outputFiles) {
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // A file of CommonJS has no URL: the code asks for its file name then.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  mkdirSync(dirname(path), { recursive: true });
  // comlink has this file for either format.
  writeFileSync(path, code.replace('comlink/dist/esm/node-adapter.mjs', 'comlink/dist/umd/node-adapter.js'));
}

// Their types: those that the entries reach, with the names that this format demands.
const queue = entries.map((path) => join(modules, `${nameOf(path)}.d.ts`));
const seen = new Set(queue);
for (const path of queue) {
  const text = readFileSync(path, 'utf8').replace(/\/\/# sourceMappingURL=.*\n?/, '');
  const renamed = text.replace(/((?:from |import\()['"])(\.[^'"]+)\.[jt]s(['"])/g, (_, before, file, after) => {
    const found = join(dirname(path), `${file}.d.ts`);
    if (!seen.has(found)) queue.push(found);
    seen.add(found);
    return `${before}${file}.cjs${after}`;
  });
  const copy = join(target, relative(modules, path).replace(/\.d\.ts$/, '.d.cts'));
  mkdirSync(dirname(copy), { recursive: true });
  writeFileSync(copy, renamed);
}
