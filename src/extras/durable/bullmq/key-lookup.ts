import { setImmediate } from '../../../time/native-timers.ts';
import type { QueueLink } from './queue-link.ts';

/** Keys asked for in one command. */
const MAX_KEYS = 500;

/**
 * Looks whether keys exist: one command for all that are asked for in one turn of the event loop, instead of one for
 * each.
 */
export class KeyLookup {
  private readonly link: QueueLink;
  /** The keys of the next command, and its answer. */
  private asked: string[] = [];
  private values: Promise<(string | null)[]> = Promise.resolve([]);

  constructor(link: QueueLink) {
    this.link = link;
  }

  async has(key: string): Promise<boolean> {
    if (this.asked.length === 0 || this.asked.length === MAX_KEYS) this.begin();
    const at = this.asked.push(key) - 1;
    return (await this.values)[at] !== null;
  }

  private begin(): void {
    const asked: string[] = [];
    this.asked = asked;
    this.values = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      if (this.asked === asked) this.asked = [];
      return this.link.client.mget(asked);
    });
  }
}
