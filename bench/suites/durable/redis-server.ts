import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** Ports that are tried: what is free may be taken before the server binds it. */
const ATTEMPTS = 5;

/** Whether there is a Redis for tests: one that REDIS_URL names, or a `redis-server` to start. */
export const hasRedis = process.env.REDIS_URL !== undefined || isOnPath();

function isOnPath(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A Redis on a free port of loopback, which keeps everything in memory, or what REDIS_URL names. */
export class RedisServer {
  readonly url: string;
  private readonly started: Started | undefined;
  private child: ChildProcess | undefined;

  private constructor(url: string, started?: Started) {
    this.url = url;
    this.started = started;
  }

  static async start(...options: string[]): Promise<RedisServer> {
    const { REDIS_URL } = process.env;
    if (REDIS_URL !== undefined && options.length === 0) return new RedisServer(REDIS_URL);
    const folder = mkdtempSync(join(tmpdir(), 'shardwheel-redis-'));
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const port = await freePort();
      const server = new RedisServer(`redis://127.0.0.1:${port}`, { folder, port, options });
      if (await server.listen()) return server;
    }
    throw new Error(`No redis-server listened on any of ${ATTEMPTS} ports`);
  }

  /** Ends the server as a machine that fails would, and starts it anew with what is on its disk. */
  async crash(): Promise<void> {
    await this.kill();
    if (!(await this.listen())) throw new Error(`No redis-server listened at ${this.url} again`);
  }

  /** Ends it as a machine that fails would. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** Lets it stand still, or go on. */
  pause(isPaused: boolean): void {
    this.child?.kill(isPaused ? 'SIGSTOP' : 'SIGCONT');
  }

  connect(): Redis {
    return new Redis(this.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 }).on('error', () => undefined);
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM');
    if (this.started !== undefined) rmSync(this.started.folder, { recursive: true, force: true });
  }

  /** Resolves with false if it ended at once: another program has taken the port meanwhile. */
  private async listen(): Promise<boolean> {
    const { folder, port, options } = this.started as Started;
    const place = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder];
    const child = spawn('redis-server', [...place, '--save', '', '--appendonly', 'no', ...options], {
      stdio: 'ignore',
    });
    this.child = child;
    const client = this.connect();
    return Promise.race([client.ping().then(() => true), once(child, 'exit').then(() => false)]).finally(() =>
      client.disconnect(),
    );
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

interface Started {
  readonly folder: string;
  readonly port: number;
  readonly options: readonly string[];
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
