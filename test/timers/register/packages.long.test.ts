import { expect, test } from 'vitest';
import { REGISTER, runProgram } from './run-program.ts';

interface Report {
  checks: Record<string, number>;
  scheduled: number;
}

/** Programs of real packages, what they find, and how many timers they set at the least. */
const packages: readonly [name: string, checks: Record<string, unknown>, timers: number][] = [
  ['fastify', { '200 its own': 1980, '503 late': 20 }, 3000],
  [
    'undici',
    {
      '200 its own': 2000,
      'short /no-headers UND_ERR_HEADERS_TIMEOUT': 1,
      'short /no-body UND_ERR_BODY_TIMEOUT': 1,
      'short in time': 2,
      'long /no-headers UND_ERR_HEADERS_TIMEOUT': 1,
      'long /no-body UND_ERR_BODY_TIMEOUT': 1,
      'long in time': 2,
      'idle connections were kept, and then closed': 1,
    },
    100,
  ],
  [
    'ws',
    {
      'its own echo': 2000,
      'terminated by the server': 1,
      'terminated by the client': 1,
      closed: 1,
      '50 still open': 1,
    },
    100,
  ],
  ['aedes', { arrived: 2000, ping: true, 'silent was given up': 1, '51 stay': 1 }, 50],
];

test.each(packages)('%s under load finds the same, registered and not', async (name, checks, timers) => {
  const without = (await runProgram(`${name}.mjs`)) as Report;
  expect(without).toEqual({ checks, scheduled: 0 });
  const registered = (await runProgram(`${name}.mjs`, { flags: REGISTER })) as Report;
  expect(registered.checks).toEqual(without.checks);
  expect(registered.scheduled).toBeGreaterThanOrEqual(timers);
});
