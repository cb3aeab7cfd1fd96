import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';
import { newFolder } from './folder.ts';

test.each([
  ['lmdb', "lmdbStore({ path: '/dev/null/none' })"],
  ['bullmq', "bullmqStore({ connection: { duplicate() {} }, queue: 'none' })"],
])('a package %s that is there and cannot be loaded is told apart from one that is missing', async (name, store) => {
  const folder = newFolder();
  cpSync('lib', join(folder, 'lib'), { recursive: true });
  mkdirSync(join(folder, 'node_modules', name), { recursive: true });
  writeFileSync(join(folder, 'node_modules', name, 'index.js'), "throw new Error('No native build was found')");
  const program = join(folder, 'program.mjs');
  writeFileSync(
    program,
    `import { bullmqStore, lmdbStore, openDurableTimers } from './lib/durable.js';
     await openDurableTimers({ store: ${store} }).catch(({ name, code, message, cause }) =>
       console.log(JSON.stringify({ name, code, message, cause: cause.message })));`,
  );
  const { stdout } = await runNode([program]);
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'DurableStoreError',
    code: 'ERR_STORE_PACKAGE_FAILED',
    message: expect.stringContaining(`needs the package '${name}', which cannot be loaded from`),
    cause: 'No native build was found',
  });
});
