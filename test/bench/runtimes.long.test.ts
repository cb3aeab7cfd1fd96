import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compare } from '../../bench/engine/comparison.ts';
import type { Suite } from '../../bench/engine/suite.ts';
import { suiteTable } from '../../bench/engine/tables.ts';
import { registryBinary } from '../../tools/replay/registry-binary.ts';

// What is run by other processes is built.
const built = (path: string) => new URL(`../../dist/bench/${path}`, import.meta.url);
const { absentRuntimes, runtimeSubjects } = (await import(
  built('suites/runtimes/runtimes.js').href
)) as typeof import('../../bench/suites/runtimes/runtimes.ts');
const { runtimes } = (await import(built('suites/runtimes/runtime-suite.js').href)) as { runtimes: Suite };

const plainLoad = async (timers: string): Promise<Record<string, number>> => {
  const script = fileURLToPath(built('suites/runtimes/plain-load.js'));
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, timers, '0.01']);
  return JSON.parse(stdout).figures;
};

const moduleOf = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

describe('the plain load', () => {
  const modules = new Set(runtimeSubjects.map(({ timers }) => timers));

  it('knows globals, node:timers, ours and those of undici', () => {
    expect(modules.size).toBe(4);
  });

  it.each([...modules].map((timers) => [timers.split('/').slice(-2).join('/'), timers]))('%s', async (_, timers) => {
    const figures = await plainLoad(timers);
    for (const { key } of runtimes.figures) expect(figures[key], key).toEqual(expect.any(Number));
    for (const key of ['set', 'random', 'newest', 'refresh', 'fire']) expect(figures[key], key).toBeGreaterThan(0);
    if (timers.endsWith('/src/entries/timers.js')) expect(figures.early).toBe(0);
  });

  it('refuses timers that are lost', async () => {
    const never = 'export const setTimeout = () => ({}), clearTimeout = () => {};';
    await expect(plainLoad(moduleOf(never))).rejects.toThrow('have not fired');
  }, 60_000);

  it('refuses timers that fire after they were cleared', async () => {
    const deaf = `export const clearTimeout = () => {}, setTimeout = (callback, delay) =>
      globalThis.setTimeout(callback, delay > 9000 ? 1 : delay);`;
    await expect(plainLoad(moduleOf(deaf))).rejects.toThrow('were cleared and fired');
  });
});

describe('a runtime that is not to be had', () => {
  const refused = (offline: boolean) => Promise.reject(new Error(offline ? 'not in the cache' : 'no such version'));
  const none = { ...runtimeSubjects[0], name: 'nobody', binary: refused };
  const own = { ...runtimeSubjects[0], name: 'this one', binary: async () => process.execPath };

  it('is listed with its reason, and does not keep the others', async () => {
    expect(await absentRuntimes([none, own], true)).toEqual({ nobody: 'not in the cache' });
    expect(await absentRuntimes([own, none], false)).toEqual({ nobody: 'no such version' });
  });

  it('stands below the table', () => {
    const suite: Suite = { ...runtimes, subjects: [{ name: 'this one' }, { name: 'nobody' }], figures: [] };
    const comparison = { ...compare(suite, []), absent: { nobody: 'no such version' } };
    expect(suiteTable(suite, comparison)).toContain('nobody: not measured, no such version');
  });

  it('has a reason that names no place', async () => {
    const nothing = registryBinary({ package: 'node@0.0.0', where: ['node', '-p', '1'] }, true);
    await expect(nothing).rejects.toThrow(/^[\w', ]+$/);
  });
});
