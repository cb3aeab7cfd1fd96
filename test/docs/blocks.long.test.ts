import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';
import { type Block, blocks, fileNameOf } from './blocks.ts';
import { read, root } from './documents.ts';
import { preambles } from './preambles.ts';

// What a page shows compiles, and the commands that it shows run as far as they can without a network. Blocks with a
// file's name are compiled and run by the tests of recipes, durable recipes and exporters; here are all others.

const placeOf = ({ document, line }: Block): string => `${document}:${line}`;
const nameOf = (block: Block): string => placeOf(block).replace(/\W+/g, '-');

const folder = join(root, 'dist', 'blocks');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const typescript = blocks.filter(({ language }) => language === 'ts');
const parts = typescript.filter((block) => fileNameOf(block) === undefined);

const preambleOf = ({ document, code }: Block): string =>
  preambles[document]?.find(({ has }) => code.includes(has))?.declarations ?? '';

test('every block says its language', () => {
  expect(blocks.filter(({ language }) => language === '').map(placeOf)).toEqual([]);
  const others = new Set(blocks.map(({ language }) => language));
  expect([...others].sort()).toEqual(['js', 'sh', 'ts', 'yaml']);
});

test('a block without a file name compiles, strictly, with the few declarations that it does without', () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const block of parts) {
    writeFileSync(join(folder, `${nameOf(block)}.ts`), `${preambleOf(block)}\n${block.code}\nexport {};\n`);
  }
  // `shardwheel` is the built package
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, types: ['node'], paths: {} };
  const config = { extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const { stdout } = spawnSync('npx', ['tsc', '-p', folder], { cwd: root, encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(parts.length).toBeGreaterThan(15);
}, 300_000);

test('every preamble is that of a block', () => {
  const used = new Set(parts.map(preambleOf));
  const all = Object.values(preambles).flatMap((each) => each.map(({ declarations }) => declarations));
  expect(all.filter((declarations) => !used.has(declarations))).toEqual([]);
});

test('a block with a file name is one that another test compiles and runs', () => {
  const tests = ['recipes', 'recipes-of-manual-clock', 'durable-recipes'].map((name) =>
    read(`test/docs/${name}.long.test.ts`),
  );
  const ofRecipes = tests.join('\n');
  const ofExporters = read('test/exporters/documents.test.ts');
  const named = typescript.filter((block) => fileNameOf(block) !== undefined);
  const untried = named.filter((block) => {
    const name = fileNameOf(block) as string;
    const text = block.document === 'docs/operate.md' ? ofExporters : ofRecipes + read('test/docs/written-recipes.ts');
    return !text.includes(name.replace(/\.ts$/, ''));
  });
  expect(untried.map(placeOf)).toEqual([]);
  expect(named.length).toBeGreaterThan(30);
});

test.each(blocks.filter(({ language }) => language === 'js').map((block) => [placeOf(block), block] as const))(
  '%s is JavaScript',
  (_, { code }) => {
    // A part of a configuration is one of an object.
    const text = code.startsWith('  ') ? `export default {${code}};` : code;
    expect(() => transformSync(text, { loader: 'js', format: 'esm' })).not.toThrow();
  },
);

/** The lines of `sh` blocks, without comments, a command each. */
const commands = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap((block) =>
    block.code
      .split('\n')
      .map((line) => line.replace(/\s+#.*$/, '').trim())
      .filter((line) => line !== '')
      .flatMap((line) => line.split(' && '))
      .map((command) => ({ place: placeOf(block), command })),
  );

const packageJson = JSON.parse(read('package.json'));
const cli = join(root, packageJson.bin.shardwheel);

describe('commands', () => {
  test('that run an example name one that the tests of the examples run', () => {
    const tried = read('test/smoke/examples.long.test.ts');
    const examples = commands.flatMap(({ command }) => /^node dist\/examples\/([\w-]+)\.js$/.exec(command)?.[1] ?? []);
    expect(examples.filter((name) => !tried.includes(name))).toEqual([]);
    expect(examples.length).toBeGreaterThan(0);
  });

  test('are of the kinds that are tried here', () => {
    const kinds =
      /^(npm (install|ci|start|test|run)\b|npx shardwheel (profile|plan|watch)\b|until npx shardwheel watch\b|node |bun |deno )/;
    expect(commands.filter(({ command }) => !kinds.test(command))).toEqual([]);
    expect(commands.length).toBeGreaterThan(10);
  });

  test('install packages that the package knows, and run scripts that there are', () => {
    const known = [packageJson.name, ...Object.keys(packageJson.peerDependencies)];
    for (const { command, place } of commands) {
      const [, packages] = /^npm install ([\w@/. -]+)$/.exec(command) ?? [];
      for (const name of packages?.split(' ') ?? []) expect(known, place).toContain(name);
      const [, script] = /^npm (?:run )?(start|test|[a-z]+:[a-z]+)/.exec(command) ?? [];
      if (script !== undefined && script !== 'ci') expect(packageJson.scripts, place).toHaveProperty([script]);
    }
  });

  test('have flags that there are', async () => {
    const told = new Map<string, string>();
    for (const { command, place } of commands) {
      const [, name] = /npx shardwheel (\w+)/.exec(command) ?? [];
      if (name === undefined) continue;
      if (!told.has(name)) told.set(name, (await runNode([cli, name, '--help'])).stdout);
      const own = command.split(' -- ')[0];
      for (const [flag] of own.matchAll(/--[a-z-]+/g)) expect(told.get(name), `${place}: ${flag}`).toContain(flag);
    }
    expect([...told.keys()].sort()).toEqual(['plan', 'profile', 'watch']);
  });

  test.each(
    commands
      .filter(({ command }) => /^(node (?!dist\/examples\/)|npx shardwheel profile )/.test(command))
      .map((each) => [each.place, each.command] as const),
  )(
    '%s runs: %s',
    async (_, command) => {
      const at = join(root, 'dist', 'blocks-run');
      mkdirSync(at, { recursive: true });
      writeFileSync(join(at, 'app.js'), "setTimeout(() => console.log('ran'), 20);\n");
      const argv = command.replace('npx shardwheel', `node ${cli}`).split(' ').slice(1);
      const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
        cwd: at,
        encoding: 'utf8',
        timeout: 90_000,
      });
      expect(status, stderr).toBe(0);
      expect(stdout).toContain('ran');
      rmSync(at, { recursive: true, force: true });
    },
    100_000,
  );

  test.each(
    commands
      .filter(({ command }) => command.startsWith('npx shardwheel plan '))
      .map((each) => [each.place, each.command] as const),
  )('%s is a plan that is understood: %s', async (_, command) => {
    // A file of costs that is not there is looked for when all else has been understood.
    const argv = command.split(' ').slice(2);
    const { code, stderr } = await runNode([cli, ...argv, '--costs', 'no-such-file.json']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('no-such-file.json');
  });
});
