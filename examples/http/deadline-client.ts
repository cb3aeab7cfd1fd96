import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Scheduler } from 'shardwheel';

export interface Answer {
  status: number;
  body: string;
}

export interface DeadlineClientOptions {
  scheduler: Scheduler;
  /** for a whole exchange, from connecting to the last byte of the answer; ms */
  deadline: number;
}

/** An HTTP client whose every request has a deadline: no socket timeout, no native timer, one timer per request. */
export class DeadlineClient {
  readonly #options: DeadlineClientOptions;

  constructor(options: DeadlineClientOptions) {
    this.#options = options;
  }

  /** Rejects with TimeoutError once the deadline has passed, with AbortError when the signal aborts; the socket is closed then. */
  get(url: string, signal?: AbortSignal): Promise<Answer> {
    const { scheduler, deadline } = this.#options;
    return scheduler.withTimeout((giveUp) => exchange(url, giveUp), deadline, signal === undefined ? {} : { signal });
  }
}

async function exchange(url: string, signal: AbortSignal): Promise<Answer> {
  const sent = request(url, { signal });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => {}); // from here on the response tells
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return { status: response.statusCode ?? 0, body };
}
