import { expect, test } from 'vitest';
import type { ConnectionRecord } from '../../dist/bench/proxy/connection-journal.js';
import { judge } from '../../dist/bench/proxy/verdict.js';

type Outcome = ConnectionRecord['outcome'];
const timeouts = { connect: 100, secure: 100, firstByte: 200, idle: 400, halfClose: 100, lifetime: 3_000, drain: 100 };
const limits = { timeouts, allowance: 20 };
const at = (time: number) => ({ earliest: time, latest: time });
const PROXY = 80;
const record = (clientPort: number, acceptedAt: number, outcome: Outcome, proxyPort = PROXY) => ({
  ...{ clientPort, proxyPort, acceptedAt, outcome },
});
type Ending = Parameters<typeof judge>[0]['observations'][number]['ending'];
const seen = (clientPort: number, plan: string, from: number, to: number, ending: Ending = 'cut') => ({
  ...{ ms: 1, clientPort, proxyPort: PROXY, plan, from, to, ending },
});

test('the verdict notices a wrong end, and one of no known client; it counts apart what ended with a killed thread, and takes nothing else for it', () => {
  const { plans, unreached, faults } = judge(
    {
      seconds: 1,
      opened: 13,
      stall: 0,
      unopened: [
        { code: 'ECONNREFUSED', from: 98, to: 101 },
        { code: 'ECONNREFUSED', from: 10, to: 99 },
        { code: 'EADDRNOTAVAIL', from: 98, to: 101 },
      ],
      observations: [
        seen(1, 'quick', 50, 101),
        seen(2, 'quick', 50, 99, 'finished'), // its FIN came before the kill, the socket's close did not
        seen(3, 'quick', 95, 101), // nobody had accepted it
        seen(3, 'quick', 120, 125, 'finished'), // the same port, used again
        seen(4, 'quick', 50, 101), // cut, by a thread that lived
        seen(5, 'quick', 50, 99), // cut, when none was killed
        seen(6, 'quick', 50, 101, 'finished'),
        seen(7, 'never answered', 50, 9_000, 'stuck'),
        { ...seen(8, 'never answered', 10, 20), moments: { opened: at(10), moved: at(10), closedAt: 500 } },
        seen(9, 'never answered', 10, 20), // cut by the wrong timer
      ],
    },
    {
      upstream: [
        ...[record(1, 50, 'lost'), record(2, 51, 'lost'), record(3, 121, 'served'), record(4, 52, 'idle')],
        ...[record(6, 52, 'open'), record(7, 52, 'lost'), record(8, 20, 'idle'), record(9, 10, 'firstByte')],
        record(10, 10, 'served'), // of no known client
      ],
      blackhole: [],
      secure: [],
    },
    [{ thread: 1, from: 100, to: 110 }],
    limits,
  );
  expect(plans.find(({ name }) => name === 'quick')).toMatchObject({ opened: 7, right: 1, lost: 3 });
  expect(unreached).toBe(1);
  expect(faults).toEqual([
    'quick: should be served, but the proxy says idle, the client cut (1 times)',
    'quick: should be served, but the proxy says nothing, the client cut (1 times)',
    'quick: should be served, but the proxy says open, the client finished (1 times)',
    'never answered: should be idle, but the proxy says lost, the client stuck (1 times)',
    'never answered: should be idle, but the proxy says firstByte, the client cut (1 times)',
    'upstream: served, of no known client (1 times)',
    'ECONNREFUSED before the proxy was reached (1 times)',
    'EADDRNOTAVAIL before the proxy was reached (1 times)',
  ]);
});

test('the verdict notices a cut that comes before its limit was over, and one that comes too late', () => {
  const observe = (port: number, plan: string, after: number, sure = 10) => ({
    ...seen(port, plan, 1_000, 9_000),
    moments: {
      opened: { earliest: 1_000, latest: 1_000 + sure },
      moved: { earliest: 1_000, latest: 1_000 + sure },
      closedAt: 1_000 + after,
    },
  });
  const observations = [
    observe(1, 'never answered', 397), // 400 is the limit, and 2 ms lie between the clocks
    observe(2, 'never answered', 398),
    observe(3, 'never answered', 10 + 500 + 1 + 20), // a quarter, a tick, and the allowance
    observe(4, 'never answered', 10 + 500 + 1 + 21),
    observe(5, 'client never says a word', 10 + 200 + 1 + 20),
    observe(6, 'client never says a word', 10 + 200 + 1 + 21),
    observe(7, 'never reads its answer', 5_000), // it learns of its end late, the proxy says when it was
    observe(8, 'never reads its answer', 5_000),
    { ...observe(9, 'never answered', 400), moments: { opened: at(1_000), moved: at(1_000) } },
  ];
  const outcomeOf = (port: number) => (port === 5 || port === 6 ? 'firstByte' : 'idle');
  const upstream = observations.map(({ clientPort }) => ({
    ...record(clientPort, 1_001, outcomeOf(clientPort)),
    endedAt: clientPort === 7 ? 1_500 : 1_900,
  }));
  const { plans, faults } = judge(
    { seconds: 1, opened: 9, stall: 0, unopened: [], observations },
    { upstream, blackhole: [], secure: [] },
    [],
    limits,
  );
  expect(faults).toEqual([
    'never answered: cut before its idle limit was over (1 times)',
    'never answered: cut too late by its idle limit (2 times)',
    'client never says a word: cut too late by its firstByte limit (1 times)',
    'never reads its answer: cut too late by its idle limit (1 times)',
  ]);
  expect(plans.find(({ name }) => name === 'client never says a word')).toMatchObject({ right: 1, latest: 21 });
});

test('a client that has let its time pass is cut rightly, and counted apart; one that has not is a fault', () => {
  const observe = (port: number, silence: number, more: { firstSent?: number; longestPause?: number } = {}) => ({
    ...seen(port, 'quick', 1_000, 9_000),
    moments: { opened: at(1_000), moved: at(2_000), closedAt: 2_000 + silence, ...more },
  });
  const { plans, faults } = judge(
    {
      seconds: 1,
      opened: 6,
      stall: 0,
      unopened: [],
      observations: [
        ...[observe(1, 400), observe(2, 399), observe(3, 400, { firstSent: 1_199 })],
        // It has written once more before it heard of its end.
        ...[observe(4, 0, { longestPause: 400 }), observe(5, 0, { longestPause: 399 })],
        observe(6, 0, { firstSent: 1_200 }),
      ],
    },
    {
      upstream: [
        ...[record(1, 1_001, 'idle'), record(2, 1_001, 'idle'), record(3, 1_001, 'firstByte')],
        ...[record(4, 1_001, 'idle'), record(5, 1_001, 'idle'), record(6, 1_001, 'firstByte')],
      ],
      blackhole: [],
      secure: [],
    },
    [],
    limits,
  );
  expect(plans.find(({ name }) => name === 'quick')).toMatchObject({ opened: 6, right: 0, late: 3 });
  expect(faults).toEqual([
    'quick: should be served, but the proxy says idle, the client cut (2 times)',
    'quick: should be served, but the proxy says firstByte, the client cut (1 times)',
  ]);
});

test('two connections of one client port, open at once to the proxies of two threads, are told apart', () => {
  const observations = [
    seen(1, 'quick', 50, 80, 'finished'),
    { ...seen(1, 'never answered', 50, 900), proxyPort: PROXY + 1 },
  ];
  const { plans, faults } = judge(
    { seconds: 1, opened: 2, stall: 0, unopened: [], observations },
    { upstream: [record(1, 51, 'lost', PROXY + 1), record(1, 52, 'served')], blackhole: [], secure: [] },
    [],
    limits,
  );
  expect(faults).toEqual([]);
  expect(plans.find(({ name }) => name === 'quick')).toMatchObject({ right: 1, lost: 0 });
  expect(plans.find(({ name }) => name === 'never answered')).toMatchObject({ right: 0, lost: 1 });
});
