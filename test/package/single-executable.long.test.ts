import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { read } from '../docs/documents.ts';
import { InstalledProject } from './installed-project.ts';

/** What docs/install.md shows of a single executable. */
const shown = (name: string): string => {
  const [, text] = new RegExp(`\`\`\`js\n// ${name}\n([\\s\\S]*?)\`\`\``).exec(read('docs/install.md')) ?? [];
  if (text === undefined) throw new Error(`docs/install.md shows no ${name}`);
  return text;
};

const project = new InstalledProject(
  'esbuild@0.28.2',
  'postject@1.0.0-alpha.6',
  'lmdb@3.5.6',
  'bullmq@6.7.0',
  'ioredis@6.0.0',
);
/** Where the executable runs: of packages there are those that it says are beside it. */
const elsewhere = mkdtempSync(join(tmpdir(), 'shardwheel-single-'));
const executable = join(elsewhere, 'program');
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

const BUNDLED = ['shardwheel', 'bullmq', 'ioredis'];

const work = `
  const delivered = async (store) => {
    const durable = await openDurableTimers({ store });
    try {
      await durable.schedule('a', 'key', Date.now() + 50, { since: new Date(0) });
      return await new Promise((resolve) => durable.handle('a', (payload) => resolve(payload.since)));
    } finally {
      await durable.close();
    }
  };
  const works = {
    async lmdb() {
      return delivered(timersOnDisk('timers'));
    },
    async bullmq(url, isGiven) {
      const connection = new Redis(url, { maxRetriesPerRequest: null });
      const own = timersInRedis(connection);
      try {
        return await delivered(isGiven === 'given' ? own : bullmqStore({ connection, queue: 'not-given' }));
      } finally {
        connection.disconnect();
      }
    },
    async thread() {
      const scheduler = threads();
      await new Promise((resolve) => scheduler.scheduleAfter('timer', 20, resolve));
      const { by } = (await scheduler.stats()).serving;
      await scheduler.close();
      return by;
    },
  };
  const [what, ...rest] = process.argv.slice(2);
  works[what](...rest).then(
    (answer) => console.log(JSON.stringify(answer)),
    (error) => console.log(JSON.stringify(error.code ?? String(error))),
  );`;

describe('a single executable', () => {
  beforeAll(() => {
    const exported = `export { timersOnDisk, timersInRedis, threads, bullmqStore, openDurableTimers, Redis };`;
    project.write('parts.js', `import { Redis } from 'ioredis';\n${shown('program.js')}\n${exported}`);
    project.write(
      'app.js',
      `import * as parts from './parts.js';\nconst { timersOnDisk, timersInRedis, threads, bullmqStore, openDurableTimers, Redis } = parts;${work}`,
    );
    project.write('build-single.js', shown('build-program.js').replaceAll('program.js', 'app.js'));
    project.run('node', ['build-single.js']);
    project.write(
      'sea.json',
      JSON.stringify({ main: 'out/app.cjs', output: 'program.blob', disableExperimentalSEAWarning: true }),
    );
    project.run('node', ['--experimental-sea-config', 'sea.json']);
    copyFileSync(process.execPath, executable);
    const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
    project.run('npx', ['postject', executable, 'NODE_SEA_BLOB', 'program.blob', '--sentinel-fuse', fuse]);
    copyFileSync(join(project.folder, 'out/worker.mjs'), join(elsewhere, 'worker.mjs'));
    const isBeside = (path: string) =>
      !BUNDLED.includes(basename(path)) || !path.endsWith(join('node_modules', basename(path)));
    cpSync(join(project.folder, 'node_modules'), join(elsewhere, 'node_modules'), {
      recursive: true,
      filter: isBeside,
    });
  }, 200_000);

  const answer = (...argv: string[]): unknown => JSON.parse(project.run(executable, argv, elsewhere));

  test('opens an LMDB store by the `open` that it is given', () => {
    expect(answer('lmdb')).toBe('1970-01-01T00:00:00.000Z');
  }, 60_000);

  test('starts a thread by the worker beside it', () => {
    expect(answer('thread')).toBe('threads');
  }, 60_000);

  describe.skipIf(!hasRedis)('with Redis', () => {
    test('opens a BullMQ store by the module that it is given, and says what is missing if not', async () => {
      const server = await RedisServer.start();
      onTestFinished(() => server.stop());
      expect(answer('bullmq', server.url, 'given')).toBe('1970-01-01T00:00:00.000Z');
      expect(answer('bullmq', server.url, 'not')).toBe('ERR_STORE_PACKAGE_MISSING');
    }, 60_000);
  });
});
