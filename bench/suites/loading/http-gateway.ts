import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { Pool } from 'undici';
import type { WholeProgram } from './whole-program.ts';

const REQUESTS = 1000;
/** Requests that are under way at a time. */
const WAVE = 50;
/** ms that a request may take. */
const DEADLINE = 30_000;
const BODY = JSON.stringify({ answer: 'of the upstream' });

/**
 * An HTTP gateway: a request comes, another goes upstream, with one deadline for both. Client and upstream are in the
 * process.
 */
export class HttpGateway implements WholeProgram {
  readonly #servers: readonly FastifyInstance[];
  readonly #pools: readonly Pool[];
  readonly #requests: number;

  /** `part`: how much of a full slice is one slice. */
  static async start(part = 1): Promise<HttpGateway> {
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
    return new HttpGateway([gateway, upstream], [toGateway, toUpstream], Math.max(WAVE, Math.round(REQUESTS * part)));
  }

  private constructor(servers: readonly FastifyInstance[], pools: readonly Pool[], requests: number) {
    this.#servers = servers;
    this.#pools = pools;
    this.#requests = requests;
  }

  async work(): Promise<number> {
    let left = this.#requests;
    const client = async (): Promise<void> => {
      while (left-- > 0) {
        const { body } = await this.#pools[0].request({ method: 'GET', path: '/answer' });
        if ((await body.text()) !== BODY) throw new Error('another answer than the upstream gave');
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
