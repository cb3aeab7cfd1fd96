import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';
import { read, root } from './documents.ts';

// A reader copies these programs into a folder, under the names that stand on the page: nothing else is there.

const page = read('docs/proxy-programs.md');
const programs = [...page.matchAll(/^### `([\w/-]+\.ts)`\n\n```ts\n([\s\S]*?)^```$/gm)];
const folder = join(root, 'dist', 'proxy-programs');

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  for (const [, name, code] of programs) {
    const file = join(folder, name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(file), { recursive: true });
    const text = code.replace(/(from '\.[\w./-]+)\.ts'/g, "$1.js'"); // as a compiler does
    writeFileSync(file, transformSync(text, { loader: 'ts', format: 'esm', target: 'node20' }).code);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['tcp-proxy/main', 'drained, timers left: 0'],
  ['tcp-proxy/several-loops', 'timers left: 0'],
  ['gateway/main', 'timers left: 0'],
])('%s runs as it was copied', async (name, last) => {
  const { code, stdout, stderr } = await runNode([join(folder, `${name}.js`)]);
  expect({ code, stderr, last: stdout.trim().split('\n').at(-1) }).toEqual({ code: 0, stderr: '', last });
});

test('each block is a program or a part of one, and the page has them all', () => {
  expect(programs.length).toBe(page.match(/^```ts$/gm)?.length);
  const names = programs.map(([, name]) => name);
  for (const [, name, code] of programs) {
    for (const [, path] of code.matchAll(/from '(\.[\w./-]+\.ts)'/g)) {
      expect(names, name).toContain(join(dirname(name), path));
    }
  }
});

test('what the proxy itself says about time is at most ten statements', () => {
  const code = programs.find(([, name]) => name === 'tcp-proxy/proxy.ts')?.[2] ?? '';
  const body = code.slice(code.indexOf('export class TcpProxy'));
  const lines = body.split('\n').filter((line) => !/^\s*(\/?\*|\/\/)/.test(line));
  const aboutTime = lines.filter((line) => /time(out|r)|delay|schedul|deadline/i.test(line));
  expect(aboutTime.length).toBeGreaterThan(3);
  expect(aboutTime.length, aboutTime.join('\n')).toBeLessThanOrEqual(10);
});
