// Prints how many files and functions of the built package run for one call, and for one delivery:
//
//     node test/depth/print-depth.mjs [dist|lib] [case | json]
//
// With a case named, also what has run. SHARDWHEEL_ROOT: the checkout, default this one.
import { pathToFileURL } from 'node:url';
import { measureDepth } from './measure-depth.mjs';

const { SHARDWHEEL_ROOT: given } = process.env;
const root = given === undefined ? new URL('../../', import.meta.url).href : pathToFileURL(`${given}/`).href;
const [kind = 'dist', named] = process.argv.slice(2);
const depth = await measureDepth(root, kind);
const print = (line) => process.stdout.write(`${line}\n`);

if (named === 'json') print(JSON.stringify(depth));
else {
  for (const [name, ran] of Object.entries(depth)) {
    const files = new Set(ran.map(({ file }) => file)).size;
    print(`${name.padEnd(14)} ${String(files).padStart(3)} files ${String(ran.length).padStart(4)} functions`);
    if (name === named) for (const { file, name, calls } of ran) print(`    ${file}:${name}(${calls})`);
  }
}
process.exit(0);
