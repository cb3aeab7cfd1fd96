// `npm run test:slow`: the long suites at full depth. A script, because not every shell can set a variable for one
// command.
process.env.SHARDWHEEL_SLOW = '1';
process.argv.splice(2, 0, 'run', '--project', 'long');
await import('../../node_modules/vitest/vitest.mjs');
