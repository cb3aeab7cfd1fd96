import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const built = (path: string) => fileURLToPath(new URL(`./lib/${path}`, import.meta.url));

// Tests of the public face import the package by its name and so run what users run, `lib`. Tests of single parts import their sources.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^shardwheel$/, replacement: built('index.js') },
      { find: /^shardwheel\/wheel$/, replacement: built('wheel.js') },
      { find: /^shardwheel\/timers$/, replacement: built('timers.js') },
      { find: /^shardwheel\/(prometheus|opentelemetry|dashboard|profile|durable)$/, replacement: built('$1.js') },
      { find: /^shardwheel\/register$/, replacement: built('register.js') },
      { find: /^shardwheel\/timers\/promises$/, replacement: built('timers-promises.js') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
