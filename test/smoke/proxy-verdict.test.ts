import { expect, test } from 'vitest';
import type { ConnectionRecord } from '../../dist/bench/proxy/connection-journal.js';
import { judge } from '../../dist/bench/proxy/verdict.js';

const record = (clientPort: number, acceptedAt: number, outcome: ConnectionRecord['outcome']): ConnectionRecord => ({
  clientPort,
  acceptedAt,
  outcome,
});
const seen = { ms: 1, ending: 'cut' as const };

test('the verdict notices a cut by the wrong timer, a healthy connection that was cut, and one of no known client', () => {
  const { faults } = judge(
    {
      seconds: 1,
      opened: 4,
      unopened: [{ code: 'EADDRNOTAVAIL', from: 1, to: 2 }],
      observations: [
        { ...seen, port: 1, from: 10, to: 20, plan: 'never answered' },
        { ...seen, port: 2, from: 10, to: 20, plan: 'never answered' },
        { ...seen, port: 1, from: 30, to: 40, plan: 'quick' },
      ],
    },
    {
      upstream: [record(1, 30, 'idle'), record(1, 20, 'request'), record(2, 10, 'idle'), record(3, 10, 'served')],
      blackhole: [],
    },
  );
  expect(faults).toEqual([
    'never answered: should be request, but the proxy says idle, the client cut (1 times)',
    'quick: should be served, but the proxy says idle, the client cut (1 times)',
    'upstream: served, of no known client (1 times)',
    'EADDRNOTAVAIL before the proxy was reached (1 times)',
  ]);
});

test('the verdict counts apart what ended with a killed thread, and takes nothing else for it', () => {
  const finished = { ...seen, ending: 'finished' as const };
  const { plans, unreached, faults } = judge(
    {
      seconds: 1,
      opened: 11,
      unopened: [
        { code: 'ECONNREFUSED', from: 98, to: 101 },
        { code: 'ECONNREFUSED', from: 10, to: 99 },
        { code: 'EADDRNOTAVAIL', from: 98, to: 101 },
      ],
      observations: [
        { ...seen, port: 1, from: 50, to: 101, plan: 'quick' },
        { ...finished, port: 2, from: 50, to: 99, plan: 'quick' }, // its FIN came before the kill, the socket's close did not
        { ...seen, port: 3, from: 95, to: 101, plan: 'quick' }, // nobody had accepted it
        { ...finished, port: 3, from: 120, to: 125, plan: 'quick' }, // the same port, used again
        { ...seen, port: 4, from: 50, to: 101, plan: 'quick' }, // cut, by a thread that lived
        { ...seen, port: 5, from: 50, to: 99, plan: 'quick' }, // cut, when none was killed
        { ...finished, port: 6, from: 50, to: 101, plan: 'quick' },
        { ...seen, ending: 'stuck', port: 7, from: 50, to: 9_000, plan: 'never answered' },
      ],
    },
    {
      upstream: [
        ...[record(1, 50, 'lost'), record(2, 51, 'lost'), record(3, 121, 'served'), record(4, 52, 'idle')],
        ...[record(6, 52, 'open'), record(7, 52, 'lost')],
      ],
      blackhole: [],
    },
    [{ thread: 1, from: 100, to: 110 }],
  );
  expect(plans.find(({ plan }) => plan.name === 'quick')).toMatchObject({ opened: 7, right: 1, lost: 3 });
  expect(unreached).toBe(1);
  expect(faults).toEqual([
    'quick: should be served, but the proxy says idle, the client cut (1 times)',
    'quick: should be served, but the proxy says nothing, the client cut (1 times)',
    'quick: should be served, but the proxy says open, the client finished (1 times)',
    'never answered: should be request, but the proxy says lost, the client stuck (1 times)',
    'ECONNREFUSED before the proxy was reached (1 times)',
    'EADDRNOTAVAIL before the proxy was reached (1 times)',
  ]);
});
