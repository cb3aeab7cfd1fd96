import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { resolveOptions } from '../../src/assembly/options.ts';
import { resolveDashboardOptions } from '../../src/extras/dashboard/options.ts';
import { resolveExporterOptions } from '../../src/extras/exporters/exported.ts';
import { OLD_CALLS } from '../../src/renamed.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { resolveTimersOptions } from '../../src/timers/create-timers.ts';
import { api, apiPages, entries, exportsOf, read, below as textBelow } from './documents.ts';

// That docs/api is as the docstrings have it, test/docs/site.long.test.ts says; here is what the docstrings say held to
// the code.

/** The text below a heading, up to the next of its level or above. */
function below(heading: string): string {
  const text = textBelow(heading, api);
  expect(text, heading).toBeDefined();
  return text as string;
}

/** Those that have a page: the worker's exports nothing. */
const told = [...entries.keys()].filter((entry) => entry !== 'shardwheel/worker');
const pageOf = (entry: string): string => {
  const page = apiPages.find((text) => text.startsWith(`# ${entry}\n`));
  expect(page, entry).toBeDefined();
  return page as string;
};

test('has a page for every entry point of the package, and lists them all', () => {
  const rows = [...read('docs/api/README.md').matchAll(/^\| \[?`(shardwheel[\w/]*)`(?:\]\(([\w-]+\.md)\))? \| \S/gm)];
  expect(rows.map(([, entry]) => entry).sort()).toEqual([...entries.keys()].sort());
  for (const [, entry, page] of rows) if (page !== undefined) expect(read(`docs/api/${page}`)).toBe(pageOf(entry));
  expect(rows.filter(([, , page]) => page !== undefined)).toHaveLength(told.length);
  expect(apiPages).toHaveLength(told.length + 1);
});

describe('has every name that an entry point exports', () => {
  test.each(told)('%s', (entry) => {
    const names = exportsOf(entry);
    const text = pageOf(entry);
    expect(names.filter((name) => !text.includes(`\n## ${name}\n`) && !text.includes(`\`${name}\``))).toEqual([]);
    expect(names.length).toBeGreaterThan(0);
  });
});

test('tells each name on one page', () => {
  const headings = [...api.matchAll(/^#{2,3} (\w[^\n]*)$/gm)].map(([, heading]) => heading);
  const again = ['Errors', 'Functions of Node'];
  expect(headings.filter((name, index) => headings.indexOf(name) !== index && !again.includes(name))).toEqual([]);
  expect(headings.length).toBeGreaterThan(200);
});

/** The column of defaults in the table of an interface, by option. */
function defaultsOf(name: string): Record<string, string> {
  const rows = [...below(`## ${name}`).matchAll(/^\| `(\w+)` \| (?:\\\||[^|])*? \| ((?:\\\||[^|])*?) \|/gm)];
  return Object.fromEntries(rows.map(([, option, value]) => [option, value]));
}

describe('the defaults are those of the code', () => {
  test('SchedulerOptions', () => {
    const stated = defaultsOf('SchedulerOptions');
    const real = resolveOptions({});
    expect(real).toMatchObject({ isAuto: true, manual: false, keepsContexts: true, execArgv: [], env: {} });
    expect([real.signal, real.workerUrl]).toEqual([undefined, undefined]);
    expect(real.wheel).toEqual(resolveOptions({ wheel: 'default' }).wheel);
    const { deaths, within } = real.inlineAfter;
    const limits = Object.entries(real.resourceLimits).map(([limit, value]) => `${limit}: ${value}`);
    expect(stated).toEqual({
      shards: "'auto'",
      wheel: "'default'",
      tick: `${real.tick}`,
      capacity: `2^${Math.log2(real.capacity)}`,
      clock: "'monotonic'",
      maxBatch: `${real.maxBatch}`,
      slack: `${real.slack}`,
      ioFirst: `${real.ioFirst}`,
      signal: 'none',
      asyncContext: "'auto'",
      thread: 'the defaults of its members',
    });
    expect(defaultsOf('ThreadOptions')).toEqual({
      hangTimeout: `${real.hangTimeout}`,
      inlineAfter: `${deaths} in ${within.toLocaleString('en')} ms`,
      execArgv: 'none',
      env: 'empty',
      workerUrl: "the package's own file",
      resourceLimits: `{ ${limits.join(', ')} }, for others Node's`,
    });
  });

  test('of the other entry points', () => {
    const { missedCalls, longDelays } = resolveTimersOptions({});
    expect(defaultsOf('TimersOptions')).toEqual({ missedCalls: `'${missedCalls}'`, longDelays: `'${longDelays}'` });
    const { port, host, token, durable } = resolveDashboardOptions();
    expect([token, durable]).toEqual([undefined, undefined]);
    const dashboard = { port: `${port}`, host: `'${host}'`, token: 'none', durable: 'none' };
    expect(defaultsOf('DashboardOptions')).toEqual(dashboard);
    const { name, timeout } = resolveExporterOptions();
    expect(name).toBe(undefined);
    expect(defaultsOf('ExporterOptions')).toEqual({ name: 'no such label', timeout: `${timeout}` });
  });

  test('no table of options leaves one out', () => {
    const tables = [...api.matchAll(/^## (\w+(?:Options|Config))$/gm)].map(([, name]) => name);
    for (const name of tables) {
      const text = below(`## ${name}`);
      const rows = text.match(/^\| `\w+` \|/gm) ?? [];
      if (text.includes('| option |')) expect(Object.keys(defaultsOf(name)).length, name).toBe(rows.length);
      for (const [option, value] of Object.entries(defaultsOf(name))) expect(value, `${name}.${option}`).not.toBe('');
    }
    expect(tables.length).toBeGreaterThan(10);
  });
});

test('has every call of a scheduler, with what it costs', () => {
  const others = ['constructor', 'ready', 'isClosed', 'size', ...OLD_CALLS];
  const calls = Object.getOwnPropertyNames(Scheduler.prototype).filter((name) => !others.includes(name));
  for (const name of calls) {
    const owner = /^schedule(After|At|Every)?$/.test(name) ? 'TimerStarts' : 'Scheduler';
    expect(below(`### ${owner}.${name}`), name).toContain('**Cost** ');
  }
  expect(calls.length).toBeGreaterThan(24);
});

test('after close() each call of a scheduler throws, or does not, as its text says', async () => {
  const scheduler = createScheduler({ shards: 0 });
  await scheduler.close();
  const calls = [...below('## Scheduler').matchAll(/^### Scheduler\.(\w+)$/gm)].map(([, name]) => name);
  const given: Record<string, unknown[]> = {
    label: ['label'],
    cancelMany: [[1]],
    scheduleMany: [[1], [1]],
    withTimeout: [() => 1, 1],
    signalAfter: [1],
    stats: [],
  };
  for (const name of calls) {
    const call = async () =>
      (scheduler as unknown as Record<string, (...args: unknown[]) => unknown>)[name](...(given[name] ?? [1, 1]));
    const stated = /^\*\*Throws\*\* (.*)$/m.exec(below(`### Scheduler.${name}`))?.[1];
    expect(stated, name).toBeDefined();
    if (stated?.endsWith('nothing.')) await call();
    else await expect(call(), name).rejects.toMatchObject({ code: 'ERR_SCHEDULER_CLOSED' });
  }
  expect(calls.length).toBeGreaterThan(24);
});
