import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../dist/bench/drop-in-timers/main.js', import.meta.url));

test('the drop-in timers are compared with those of Node, and the process ends', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script, '500', '1']);
  const figures = 'clear \\+ set \\d+ ns, refresh \\d+ ns, set and fire \\d+ ns, -?\\d+ bytes of heap each';
  expect(stdout).toMatch(new RegExp(`^node:timers: 500 live: ${figures}\nshardwheel/timers: 500 live: ${figures}\n$`));
});
