import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

/** Blocks of docs/guide.md, and the files that are run. */
const shown = {
  'retry.ts': 'examples/fake-time/retry.ts',
  'retry.test.ts': 'test/smoke/fake-time/retry.test.ts',
  'retry-with-node-test.ts': 'examples/fake-time/retry-with-node-test.ts',
};

test.each(Object.entries(shown))('docs/guide.md shows %s as it is run', (name, path) => {
  const blocks = [...read('docs/guide.md').matchAll(/```ts\n\/\/ ([\w.-]+)\n([\s\S]*?)```/g)];
  const code = blocks.find(([, title]) => title === name)?.[2];
  expect(code).toBe(read(path).replace('../../../dist/examples/fake-time/retry.js', './retry.ts'));
});
