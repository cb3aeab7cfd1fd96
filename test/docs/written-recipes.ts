import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { read, root } from './documents.ts';

type Files = ReadonlyMap<string, string>;

/** The files that a document shows, by name. */
const shownIn = (document: string): Files =>
  new Map([...read(document).matchAll(/```ts\n\/\/ ([\w.-]+)\n([\s\S]*?)```/g)].map(([, name, code]) => [name, code]));

export const shown: Files = new Map([...shownIn('docs/guide.md'), ...shownIn('docs/proxies.md')]);

/** Those that the examples, or tests of their own, have and run. */
export const ofExamples: Readonly<Record<string, string>> = {
  'retry.ts': 'examples/fake-time/retry.ts',
  'retry.test.ts': 'test/smoke/fake-time/retry.test.ts',
  'retry-with-node-test.ts': 'examples/fake-time/retry-with-node-test.ts',
};
export const recipes: Files = new Map([...shown].filter(([name]) => !Object.hasOwn(ofExamples, name)));
export const durableRecipes = shownIn('docs/durable.md');

/** Recipes in a folder, where they find the built package. */
interface WrittenRecipes {
  readonly folder: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a recipe exports, only the recipe knows
  load(name: string): Promise<any>;
}

/** Writes recipes, as they are and as JavaScript, for the tests of the calling file. */
export function writtenRecipes(name: string, files: Files = recipes): WrittenRecipes {
  const folder = join(root, 'dist', name);
  beforeAll(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    for (const [name, code] of files) {
      write(name, code);
      const target = 'es2022'; // Node 20 knows no `using`
      write(name.replace('.ts', '.mjs'), transformSync(code, { loader: 'ts', target }).code);
    }
    const compilerOptions = { noUnusedLocals: false, types: ['node'], paths: {} }; // `shardwheel` is the built package
    write('tsconfig.json', JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, load: (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href) };
}
