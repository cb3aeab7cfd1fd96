import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InstalledProject } from './installed-project.ts';

/** By its name, what each program imports, does, and prints at last. */
const programs: Record<string, { imports: Record<string, string>; does: string; prints: string }> = {
  inline: {
    imports: { shardwheel: 'createScheduler' },
    does: `const scheduler = createScheduler({ shards: 0 });
      await new Promise((resolve) => scheduler.scheduleAfter(1, 5, resolve));
      console.log((await scheduler.stats()).serving.by);
      await scheduler.close();`,
    prints: 'inline',
  },
  threads: {
    imports: { shardwheel: 'createScheduler' },
    does: `const scheduler = createScheduler({ shards: 1 });
      await scheduler.ready;
      await new Promise((resolve) => scheduler.scheduleAfter(1, 5, resolve));
      console.log((await scheduler.stats()).serving.by);
      await scheduler.close();`,
    prints: 'threads',
  },
  dashboard: {
    imports: { shardwheel: 'createScheduler', 'shardwheel/dashboard': 'serveDashboard' },
    does: `const scheduler = createScheduler({ shards: 0 });
      const { url } = await serveDashboard(scheduler, { port: 0 });
      console.log((await (await fetch(url)).text()).includes('EventSource'));
      await scheduler.close();`,
    prints: 'true',
  },
  lmdb: {
    imports: { 'shardwheel/durable': 'lmdbStore, openDurableTimers' },
    does: `const durable = await openDurableTimers({ store: lmdbStore({ path: './timers' }) });
      const delivered = new Promise((resolve) => durable.handle('a', resolve));
      await durable.schedule('a', 'k', Date.now() + 5, 'delivered');
      console.log(await delivered);
      await durable.close();`,
    prints: 'delivered',
  },
  bullmq: {
    imports: { 'shardwheel/durable': 'bullmqStore, openDurableTimers', ioredis: 'Redis' },
    does: `const connection = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => null });
      connection.on('error', () => undefined);
      const store = bullmqStore({ connection, queue: 'timers', timeout: 200 });
      await openDurableTimers({ store }).catch(({ code }) => console.log(code)); // not that its package is missing
      process.exit();`,
    prints: 'ERR_STORE_UNREACHABLE',
  },
  prometheus: {
    imports: { shardwheel: 'createScheduler', 'shardwheel/prometheus': 'registerMetrics' },
    does: `const scheduler = createScheduler({ shards: 0 });
      registerMetrics(scheduler);
      console.log('registered');
      await scheduler.close();`,
    prints: 'registered',
  },
  registered: {
    imports: { 'shardwheel/register': 'registration' },
    does: `for (let round = 0; round < 1000 && registration().serving === 'node'; round++) {
        for (let n = 0; n < 1000; n++) setTimeout(() => undefined, 60_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      console.log(registration().serving);
      process.exit();`,
    prints: 'wheel',
  },
};

const asEsm = ({ imports, does }: (typeof programs)[string]): string =>
  `${Object.entries(imports)
    .map(([from, names]) => `import { ${names} } from '${from}';\n`)
    .join('')}${does}\n`;

const asCommonJs = ({ imports, does }: (typeof programs)[string]): string =>
  `${Object.entries(imports)
    .map(([from, names]) => `const { ${names} } = require('${from}');\n`)
    .join('')}(async () => {\n${does}\n})();\n`;

/** Copies what the tracer has found for a program, and no more, into a folder of its own. */
const trace = `
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { nodeFileTrace } from '@vercel/nft';
const [program, to] = process.argv.slice(2);
const { fileList } = await nodeFileTrace([program], { base: process.cwd() });
for (const file of fileList) cpSync(file, join(to, file), { verbatimSymlinks: true });
console.log(JSON.stringify([...fileList]));
`;

const project = new InstalledProject(
  '@vercel/nft@1.11.5',
  'lmdb@3.5.6',
  'bullmq@6.7.0',
  'ioredis@6.0.0',
  'prom-client@15.1.3',
);
project.write('trace.mjs', trace);
/** Where no package is to be found. */
const elsewhere = mkdtempSync(join(tmpdir(), 'shardwheel-traced-'));
afterAll(() => rmSync(elsewhere, { recursive: true }));

describe.each(Object.entries(programs))('what @vercel/nft finds for a program: %s', (name, program) => {
  beforeAll(() => {
    project.write(`${name}.mjs`, asEsm(program));
    project.write(`${name}.cjs`, asCommonJs(program));
  });

  test.each(['mjs', 'cjs'])('runs elsewhere, as .%s', (ending) => {
    const file = `${name}.${ending}`;
    const folder = join(elsewhere, file);
    const found: string[] = JSON.parse(project.run('node', ['trace.mjs', file, folder]));
    expect(found.length).toBeGreaterThan(5);
    expect(project.try('node', [file], folder)).toMatchObject({ status: 0, stdout: `${program.prints}\n`, stderr: '' });
    // What it does not need it does not bring: the stores are large.
    const packages = ['lmdb', 'bullmq', 'prom-client'].filter((each) =>
      found.some((path) => path.startsWith(`node_modules/${each}/`)),
    );
    expect(packages.length > 0).toBe(['lmdb', 'bullmq', 'prometheus'].includes(name));
  });
});
