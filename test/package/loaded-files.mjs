// A program that loads what it is told to, and says which files that took: by import, and by require.
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [entry, code = ''] = process.argv.slice(2);
const log = join(tmpdir(), `shardwheel-loaded-${process.pid}`);
const hooks = `
  import { appendFileSync } from 'node:fs';
  export const load = (url, context, next) => {
    appendFileSync(${JSON.stringify(log)}, url + '\\n');
    return next(url, context);
  };`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
appendFileSync(log, '');
try {
  const loaded = await import(entry);
  await new Function('loaded', `return (async () => { ${code} })()`)(loaded);
  const imported = readFileSync(log, 'utf8').split('\n');
  const required = Object.keys(createRequire(import.meta.url).cache).map((path) => `file://${path}`);
  const files = [...imported, ...required].filter((url) => url.startsWith('file:'));
  process.stdout.write(JSON.stringify([...new Set(files)]));
} finally {
  rmSync(log, { force: true });
}
