import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import Fastify, { type FastifyInstance } from 'fastify';
import { Pool } from 'undici';
import type { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import type { Program, RunningProgram } from './program.ts';
import { faces, none } from './program-timers.ts';

const REQUESTS = 1000;
/** Requests that are under way at a time. */
const WAVE = 50;
/** ms that a request may take. */
const DEADLINE = 30_000;
const BODY = JSON.stringify({ answer: 'of the upstream' });

/** An HTTP gateway: a request comes, another goes upstream, with one deadline for both. */
export const httpGateway: Program = {
  name: 'gateway',
  title: 'an HTTP gateway with a deadline per request',
  about:
    `fastify in front, undici to a fastify upstream, each request with an AbortController and a timeout of ${DEADLINE / 1000} s that ` +
    `is cleared when it is answered. ${REQUESTS.toLocaleString('en-US')} requests in a slice, ${WAVE} under way at a time; client, gateway and ` +
    'upstream are this process.',
  operation: 'request',
  slices: 10,
  isKept: true,
  wait: 'request until its answer',
  subjects: [...faces, none],
  start: (part) => Gateway.start(Math.max(WAVE, Math.round(REQUESTS * part))),
};

class Gateway implements RunningProgram {
  readonly live = WAVE;
  readonly #servers: readonly FastifyInstance[];
  readonly #pools: readonly Pool[];
  readonly #requests: number;

  static async start(requests: number): Promise<Gateway> {
    const upstream = Fastify();
    upstream.get('/answer', (_request, reply) => reply.type('application/json').send(BODY));
    const toUpstream = new Pool(await listening(upstream), { connections: WAVE });
    const gateway = Fastify();
    gateway.get('/answer', async (_request, reply) => {
      const controller = new AbortController();
      const deadline = setTimeout(() => controller.abort(), DEADLINE);
      try {
        const { body } = await toUpstream.request({ method: 'GET', path: '/answer', signal: controller.signal });
        return await reply.type('application/json').send(await body.text());
      } finally {
        clearTimeout(deadline);
      }
    });
    const toGateway = new Pool(await listening(gateway), { connections: WAVE });
    return new Gateway([gateway, upstream], [toGateway, toUpstream], requests);
  }

  private constructor(servers: readonly FastifyInstance[], pools: readonly Pool[], requests: number) {
    this.#servers = servers;
    this.#pools = pools;
    this.#requests = requests;
  }

  async work(waits: LatenessHistogram): Promise<number> {
    let left = this.#requests;
    const client = async (): Promise<void> => {
      while (left-- > 0) {
        const start = performance.now();
        const { body } = await this.#pools[0].request({ method: 'GET', path: '/answer' });
        if ((await body.text()) !== BODY) throw new Error('another answer than the upstream gave');
        waits.record(performance.now() - start);
      }
    };
    await Promise.all(Array.from({ length: WAVE }, client));
    return this.#requests;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()));
    await Promise.all(this.#servers.map((server) => server.close()));
  }
}

async function listening(server: FastifyInstance): Promise<string> {
  await server.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
}
