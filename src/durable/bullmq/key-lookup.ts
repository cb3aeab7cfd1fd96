import { setImmediate } from '../../time/native-timers.ts';
import { bullmqError } from './bullmq-errors.ts';
import type { RedisConnection } from './queue-options.ts';

/** Keys asked for in one command. */
const MAX_KEYS = 500;

interface Question {
  readonly key: string;
  readonly resolve: (isThere: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** Looks whether keys exist: one command for all that are asked for in one turn of the event loop, instead of one for each. */
export class KeyLookup {
  private readonly client: RedisConnection;
  private readonly queue: string;
  private asked: Question[] = [];

  /** `queue`: its name, for errors. */
  constructor(client: RedisConnection, queue: string) {
    this.client = client;
    this.queue = queue;
  }

  /** Rejects with DurableStoreError. */
  has(key: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.asked.length === 0) setImmediate(() => this.ask());
      this.asked.push({ key, resolve, reject });
    });
  }

  private ask(): void {
    const all = this.asked;
    this.asked = [];
    for (let at = 0; at < all.length; at += MAX_KEYS) void this.answer(all.slice(at, at + MAX_KEYS));
  }

  private async answer(questions: readonly Question[]): Promise<void> {
    try {
      const values = await this.client.mget(questions.map(({ key }) => key));
      for (const [at, { resolve }] of questions.entries()) resolve(values[at] !== null);
    } catch (error) {
      for (const { reject } of questions) reject(bullmqError(this.queue, error));
    }
  }
}
