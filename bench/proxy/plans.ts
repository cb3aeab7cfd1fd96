import { setTimeout as sleep } from 'node:timers/promises';
import type { CutReason } from '../../examples/tcp-proxy/proxy.ts';
import type { LoadClient } from './load-client.ts';
import type { LoadTimeouts } from './load-timeouts.ts';
import { MAX_ANSWER } from './protocol.ts';

/**
 * Which proxy a connection goes to: the one before the test upstream, the one before the blackhole, or one whose
 * clients speak TLS.
 */
export type Route = 'upstream' | 'blackhole' | 'secure';

export const routes: readonly Route[] = ['upstream', 'blackhole', 'secure'];

export const byRoute = <T>(make: (route: Route) => T): Record<Route, T> => ({
  upstream: make('upstream'),
  blackhole: make('blackhole'),
  secure: make('secure'),
});

export interface Plan {
  name: string;
  /** What the proxy must make of it. */
  fate: 'served' | CutReason;
  route: Route;
  /** The client reads nothing, and so sees its end too late: the proxy says when it was. */
  isBlind?: boolean;
  /**
   * Resolves if the connection lives to the end of its plan. Pauses are fractions of the proxy's timeouts. `standing`:
   * for those that stand for the run.
   */
  play(client: LoadClient, timeouts: LoadTimeouts, standing: Standing): Promise<void>;
}

export interface Standing {
  /** Called when the connection stands: it has had its first answer. */
  begun(): void;
  /** Resolves when those that stand may end. */
  released: Promise<void>;
}

const BULK = 256 * 1024;

/** Of a record of TLS with 200 bytes of a hello. */
const HELLO = Buffer.concat([Buffer.from('16030100c8010000c40303', 'hex'), Buffer.alloc(194)]);
const HALF_A_HELLO = HELLO.subarray(0, 100);

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
    name: 'slow to finish its TLS handshake',
    fate: 'served',
    route: 'secure',
    async play(client, { secure }) {
      await sleep(secure * 0.5);
      await client.secure();
      await client.ask({ answerBytes: 4096 });
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
    name: 'a TLS hello that stops half-way',
    fate: 'secure',
    route: 'secure',
    async play(client) {
      client.write(HALF_A_HELLO);
      await client.untilCut();
    },
  },
  {
    name: 'a TLS hello, a byte now and then',
    fate: 'secure',
    route: 'secure',
    async play(client, { secure }) {
      for (let sent = 0; sent < HELLO.length && !client.isClosed; sent++) {
        client.write(HELLO.subarray(sent, sent + 1));
        await sleep(secure / 10);
      }
      await client.untilCut();
    },
  },
  {
    name: 'a TLS session, and not a word',
    fate: 'firstByte',
    route: 'secure',
    async play(client) {
      await client.secure();
      await client.untilCut();
    },
  },
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
      for (let sent = 0; sent <= lifetime && !client.isClosed; sent += idle / 3) {
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
    isBlind: true,
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
      await sleep(halfClose * 0.8);
      await client.pokeUntilCut();
    },
  },
];

/** Exchanges a little now and then, as long as the run lasts. */
async function stand(client: LoadClient, { idle }: LoadTimeouts, { begun, released }: Standing): Promise<void> {
  let isReleased = false;
  const over = released.then(() => {
    isReleased = true;
  });
  while (!isReleased) {
    await client.ask({ answerBytes: 64 });
    begun();
    const pause = new AbortController();
    await Promise.race([over, sleep(idle * (0.3 + 0.3 * Math.random()), undefined, { signal: pause.signal })]);
    pause.abort();
  }
}

/** Open at once, all of them, for the run, and then ended in all ways. */
export const standingPlans: readonly Plan[] = [
  {
    name: 'stands, then falls silent',
    fate: 'idle',
    route: 'upstream',
    async play(client, timeouts, standing) {
      await stand(client, timeouts, standing);
      await client.untilCut();
    },
  },
  {
    name: 'stands, then ends',
    fate: 'served',
    route: 'upstream',
    async play(client, timeouts, standing) {
      await stand(client, timeouts, standing);
      await sleep(timeouts.idle * 0.2 * Math.random());
      await finish(client);
    },
  },
  {
    name: 'stands, then ends and is not answered',
    fate: 'halfClose',
    route: 'upstream',
    async play(client, timeouts, standing) {
      await stand(client, timeouts, standing);
      await client.ask({ verb: 'linger', answerBytes: 64, delay: Math.floor(timeouts.halfClose * 0.5) });
      client.end();
      await client.untilCut();
    },
  },
  {
    name: 'stands, and talks on',
    fate: 'lifetime',
    route: 'upstream',
    async play(client, timeouts, standing) {
      await stand(client, timeouts, standing);
      for (;;) {
        await client.ask({ answerBytes: 64 });
        await sleep(timeouts.idle * 0.4);
      }
    },
  },
];

export const allPlans: readonly Plan[] = [quickPlan, ...healthyPlans, ...hangingPlans, ...standingPlans];
