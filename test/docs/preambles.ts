/**
 * What a block of a page, which shows a part of a program, has around it: the declarations that it does without. Blocks
 * with imports of their own need few.
 */

const connection = `
interface Connection { readonly number: number; readonly socket: Socket }
declare const connection: Connection;
declare const onIdle: (connection: Connection) => void;
declare const onLate: (connection: Connection) => void;`;

const scheduler = `
import type { Socket } from 'node:net';
import type { Scheduler, TimerLabel } from 'shardwheel';
declare const scheduler: Scheduler;
${connection}`;

const durable = `
import type { DurableStore, DurableTimers } from 'shardwheel/durable';
declare const store: DurableStore;`;

interface Preamble {
  /** The block has these words, and is the first of its page for which that is so. */
  readonly has: string;
  readonly declarations: string;
}

export const preambles: Readonly<Record<string, readonly Preamble[]>> = {
  'docs/decide.md': [
    { has: "label('idle', { slack: 1023 })", declarations: `${scheduler}\ndeclare const request: Promise<string>;` },
  ],
  'docs/guide.md': [
    { has: "label('idle', { slack: 1023 })", declarations: scheduler },
    {
      has: 'scheduler.group(',
      declarations: `${scheduler}\ndeclare const idle: TimerLabel;\ndeclare const request: TimerLabel;`,
    },
    { has: "label('idle', { min: 5_000 })", declarations: scheduler },
    { has: 'everywhere: true', declarations: `${scheduler}\ndeclare const idle: TimerLabel;` },
  ],
  'docs/durable.md': [
    {
      has: "handle('session-expired'",
      declarations: `
declare function endSession(key: string, payload: unknown, signal: AbortSignal): Promise<void>;
declare const log: { warn(what: object): void };`,
    },
    {
      has: 'ifAbsent: true',
      declarations: `${durable}
declare const durable: DurableTimers;
declare const [user, since, job, nextTry]: [string, number, string, number];`,
    },
    {
      has: 'persistAfter: 2000',
      declarations: `
import { openDurableTimers } from 'shardwheel/durable';${durable}
declare const [id, ip, payload]: [string, string, object];
declare const retry: () => Promise<void>;`,
    },
    { has: 'durable.backup(', declarations: `${durable}\ndeclare const durable: DurableTimers;` },
  ],
  'docs/moving.md': [
    { has: 'timer.refresh()', declarations: "import type { Server } from 'node:net';\ndeclare const server: Server;" },
    {
      has: 'rescheduleAfter(timer, 60_000));',
      declarations: `${scheduler}\nimport type { Server } from 'node:net';\ndeclare const server: Server;`,
    },
    { has: 'headersTimeout: 5_000', declarations: "import { request } from 'undici';\ndeclare const url: string;" },
    {
      has: 'headersTimeout: 0',
      declarations: `${scheduler}\nimport { request } from 'undici';\ndeclare const url: string;`,
    },
    {
      has: 'new Queue(',
      declarations: `
import { Queue, Worker, type ConnectionOptions } from 'bullmq';
declare const connection: ConnectionOptions;
declare function remind(user: string): Promise<void>;`,
    },
    {
      has: 'bullmqStore({',
      declarations: `
import { Redis } from 'ioredis';
import { bullmqStore, openDurableTimers } from 'shardwheel/durable';
declare function remind(user: string): Promise<void>;`,
    },
    {
      has: 'new LRUCache',
      declarations: `
import { LRUCache } from 'lru-cache';
interface Session { end(): void }
declare const [key, session]: [string, Session];`,
    },
    {
      has: 'new Map<string',
      declarations: `${scheduler}
interface Session { end(): void }
declare const [key, session]: [string, Session];`,
    },
  ],
};
