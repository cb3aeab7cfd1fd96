import { request } from 'node:http';
import type { Hello, Sample } from '../../src/extras/dashboard/messages.ts';
import { eventsIn, type StreamEvent } from '../../tools/cli/event-stream.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export interface Asking {
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

/** One request, with the headers just so: `fetch` sets a Host of its own. */
export function ask(url: string, path: string, { headers = {}, method = 'GET' }: Asking = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(url), { path, method, headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** An open event stream, past its hello. */
export class Watcher implements Disposable {
  hello!: Hello;
  private readonly abort: AbortController;
  private readonly events: AsyncGenerator<StreamEvent>;

  static async open(url: string, query = ''): Promise<Watcher> {
    const abort = new AbortController();
    const answer = await fetch(new URL(`events${query}`, url), { signal: abort.signal });
    const watcher = new Watcher(answer, abort);
    watcher.hello = await watcher.expect('hello');
    return watcher;
  }

  private constructor(answer: Response, abort: AbortController) {
    this.abort = abort;
    this.events = eventsIn(answer.body?.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>);
  }

  /** The next event; undefined at the end. */
  async next(): Promise<StreamEvent | undefined> {
    return (await this.events.next()).value;
  }

  async sample(): Promise<Sample> {
    return this.expect('sample');
  }

  async expect<T>(name: string): Promise<T> {
    const event = await this.next();
    if (event?.event !== name) throw new Error(`expected ${name}, got ${event?.event ?? 'the end'}`);
    return JSON.parse(event.data);
  }

  [Symbol.dispose](): void {
    this.abort.abort();
  }
}
