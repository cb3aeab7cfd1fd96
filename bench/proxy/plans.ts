import { setTimeout as sleep } from 'node:timers/promises';
import type { CutReason, ProxyTimeouts } from '../../examples/tcp-proxy/proxy.ts';
import type { LoadClient } from './load-client.ts';
import { MAX_ANSWER } from './protocol.ts';

/** Which proxy a connection goes to: the one before the test upstream, or the one before the blackhole. */
export type Route = 'upstream' | 'blackhole';

export const routes: readonly Route[] = ['upstream', 'blackhole'];

export interface Plan {
  name: string;
  /** What the proxy must make of it. */
  fate: 'served' | CutReason;
  route: Route;
  /** Resolves if the connection lives to the end of its plan. Pauses are fractions of the proxy's timeouts. */
  play(client: LoadClient, timeouts: ProxyTimeouts): Promise<void>;
}

const BULK = 256 * 1024;

const finish = async (client: LoadClient): Promise<void> => {
  client.end();
  await client.untilPeerEnds();
};

/** The bulk of the traffic: what the throughput is measured with. */
export const quickPlan: Plan = {
  name: 'quick',
  fate: 'served',
  route: 'upstream',
  async play(client) {
    await client.ask({ answerBytes: 512 });
    await finish(client);
  },
};

/** Healthy, each in a way that a careless proxy would cut or truncate. */
export const healthyPlans: readonly Plan[] = [
  {
    name: 'half-closed after its request',
    fate: 'served',
    route: 'upstream',
    async play(client, { halfClose }) {
      client.send({ answerBytes: 4096, delay: Math.floor(halfClose * 0.3) });
      client.end();
      await client.receive(4096);
      await client.untilPeerEnds();
    },
  },
  {
    name: 'unhurried: outlives every timeout',
    fate: 'served',
    route: 'upstream',
    async play(client, { idle }) {
      for (let round = 0; round < 4; round++) {
        await client.ask({ answerBytes: 512, delay: Math.floor(idle * 0.4) });
        await sleep(idle * 0.4);
      }
      await finish(client);
    },
  },
  {
    name: 'ended by the upstream',
    fate: 'served',
    route: 'upstream',
    async play(client) {
      await client.ask({ verb: 'bye', answerBytes: 2048 });
      await client.untilPeerEnds();
      client.end();
    },
  },
  {
    name: 'big answer, slow reader',
    fate: 'served',
    route: 'upstream',
    async play(client, { idle }) {
      client.send({ answerBytes: BULK });
      await client.holdReading(idle * 0.3);
      await client.receive(BULK);
      await finish(client);
    },
  },
  {
    name: 'big upload',
    fate: 'served',
    route: 'upstream',
    async play(client) {
      await client.ask({ answerBytes: 64, bodyBytes: BULK });
      await finish(client);
    },
  },
];

export const hangingPlans: readonly Plan[] = [
  {
    name: 'upstream out of reach',
    fate: 'connect',
    route: 'blackhole',
    async play(client) {
      client.send({});
      await client.untilCut();
    },
  },
  {
    name: 'never answered',
    fate: 'idle',
    route: 'upstream',
    async play(client) {
      client.send({ verb: 'hush' });
      await client.untilCut();
    },
  },
  {
    name: 'second request never answered',
    fate: 'idle',
    route: 'upstream',
    async play(client) {
      await client.ask({ answerBytes: 512 });
      client.send({ verb: 'hush' });
      await client.untilCut();
    },
  },
  {
    name: 'answer stalls half-way',
    fate: 'idle',
    route: 'upstream',
    async play(client) {
      client.send({ verb: 'stall', answerBytes: 8192 });
      await client.receive(4096);
      await client.untilCut();
    },
  },
  {
    name: 'client idles after its answer',
    fate: 'idle',
    route: 'upstream',
    async play(client) {
      await client.ask({ answerBytes: 512 });
      await client.untilCut();
    },
  },
  {
    name: 'client never says a word',
    fate: 'firstByte',
    route: 'upstream',
    async play(client) {
      await client.untilCut();
    },
  },
  {
    name: 'a byte now and then, of a request that never ends',
    fate: 'lifetime',
    route: 'upstream',
    async play(client, { idle, lifetime }) {
      for (let sent = 0; sent <= lifetime; sent += idle / 3) {
        client.dribble();
        await sleep(idle / 3);
      }
      await client.pokeUntilCut();
    },
  },
  {
    name: 'never reads its answer',
    fate: 'idle',
    route: 'upstream',
    async play(client, { idle }) {
      client.send({ answerBytes: MAX_ANSWER });
      await client.holdReading(idle * 2);
      await client.untilCut();
    },
  },
  {
    name: 'upstream dribbles on after the FIN',
    fate: 'halfClose',
    route: 'upstream',
    async play(client, { halfClose }) {
      await client.ask({ verb: 'linger', answerBytes: 512, delay: Math.floor(halfClose * 0.5) });
      client.end();
      await client.untilCut();
    },
  },
  {
    name: 'client stays after the FIN',
    fate: 'halfClose',
    route: 'upstream',
    async play(client, { halfClose }) {
      await client.ask({ verb: 'bye', answerBytes: 512 });
      await client.untilPeerEnds();
      await sleep(halfClose * 1.5);
      await client.pokeUntilCut();
    },
  },
];

export const allPlans: readonly Plan[] = [quickPlan, ...healthyPlans, ...hangingPlans];
