import { createScheduler } from 'shardwheel';
import { expect, test, vi } from 'vitest';
import { Blackhole } from '../../dist/examples/tcp-proxy/blackhole.js';
import { runLoad } from '../../dist/examples/tcp-proxy/load.js';
import { type ConnectionEnd, TcpProxy } from '../../dist/examples/tcp-proxy/proxy.js';
import { TestUpstream } from '../../dist/examples/tcp-proxy/upstream.js';
import { judge } from '../../dist/examples/tcp-proxy/verdict.js';

// Long enough for a healthy exchange on a busy machine.
const timeouts = { connect: 800, request: 800, idle: 1600, drain: 800 };

const sockets = (): string[] => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP'));

test('each hanging connection is cut by the right timer, no healthy one is cut, and nothing leaks', async () => {
  const socketsBefore = sockets().length;
  const [upstream, blackhole] = await Promise.all([TestUpstream.listen(), Blackhole.open()]);
  const scheduler = createScheduler({ shards: 2 });
  const ends: Record<'upstream' | 'blackhole', ConnectionEnd[]> = { upstream: [], blackhole: [] };
  const openProxy = (route: 'upstream' | 'blackhole', upstreamPort: number) =>
    TcpProxy.listen({ scheduler, upstreamPort, timeouts, onEnd: (end) => ends[route].push(end) });
  const front = await openProxy('upstream', upstream.port);
  const beyond = await openProxy('blackhole', blackhole.port);

  const report = await runLoad({
    ports: { upstream: front.port, blackhole: beyond.port },
    timeouts,
    seconds: 5,
    maxConnections: 600,
    parallel: 16,
    hanging: 0.2,
    maxSlow: 200,
  });
  const verdict = judge(report, ends);
  expect(verdict.faults).toEqual([]);
  for (const { plan, opened, right } of verdict.plans) {
    expect(right, plan.name).toBe(opened);
    expect(opened, plan.name).toBeGreaterThanOrEqual(3);
  }
  expect(scheduler.size).toBe(0);
  expect([front.live, beyond.live]).toEqual([0, 0]);

  await Promise.all([front.close(), beyond.close()]);
  await vi.waitFor(() => expect(upstream.connections).toBe(0));
  await Promise.all([upstream.close(), blackhole.close()]);
  expect(await scheduler.close()).toEqual([]);
  await vi.waitFor(() => expect(sockets().length).toBe(socketsBefore));
});

test('the verdict notices a cut by the wrong timer, a healthy connection that was cut, and one of no known client', () => {
  const seen = { ms: 1, ending: 'cut' as const };
  const { faults } = judge(
    {
      seconds: 1,
      opened: 4,
      unopened: { EADDRNOTAVAIL: 1 },
      observations: [
        { ...seen, port: 1, plan: 'never answered' },
        { ...seen, port: 2, plan: 'never answered' },
        { ...seen, port: 1, plan: 'quick' },
      ],
    },
    {
      upstream: [
        { number: 3, clientPort: 1, outcome: 'idle', error: undefined },
        { number: 1, clientPort: 1, outcome: 'request', error: undefined },
        { number: 2, clientPort: 2, outcome: 'idle', error: undefined },
        { number: 4, clientPort: 3, outcome: 'served', error: undefined },
      ],
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
