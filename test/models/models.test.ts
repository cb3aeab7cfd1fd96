import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = fileURLToPath(new URL('.', import.meta.url));
const { mutationsOf } = await import(`${folder}mutations.mjs`);
const models = readdirSync(folder).filter((name) => name.endsWith('.pml'));

test('each model says what it leaves out, and maps its steps to functions that exist', () => {
  expect(models).toEqual(['gate.pml', 'hosts.pml', 'lane.pml', 'timer.pml']);
  for (const model of models) {
    const text = readFileSync(folder + model, 'utf8');
    expect(text.toLowerCase(), model).toMatch(/leaves? out|left out/);
    const steps = [...text.matchAll(/(src\/[\w/-]+\.ts): ?(\w+)((?:, \w+)*)/g)];
    expect(steps.length, model).toBeGreaterThan(5);
    for (const [, file, first, others] of steps) {
      expect(existsSync(root + file), `${model}: ${file}`).toBe(true);
      const source = readFileSync(root + file, 'utf8');
      for (const name of [first, ...others.split(', ').slice(1)]) {
        expect(source, `${model}: ${file}: ${name}`).toMatch(new RegExp(`\\b${name}\\b`));
      }
    }
  }
});

test.each(models)('each mutation of %s fits one place of it, and there are at least six', (model) => {
  expect(mutationsOf(model.replace('.pml', '')).length).toBeGreaterThanOrEqual(6);
});
