import { type Farewell, type Hello, PROTOCOL, type Sample, type Waiting } from '../messages.ts';

export type State = 'connecting' | 'live' | 'lost' | 'ended';

export interface Listener {
  hello(hello: Hello): void;
  sample(sample: Sample): void;
  /** What the page says of its connection; `trouble` is for a banner, where there is something to tell. */
  state(state: State, text: string, trouble?: string): void;
}

/**
 * The page may be under any path, which a proxy before the server takes off, and its address may lack the last slash.
 * The origin stands before it, as a path that begins with two slashes would name a host.
 */
const STREAM = `${location.origin}${location.pathname.replace(/\/*$/, '')}/events`;

/** ms between two tries, and without any event until that is told. */
const RETRY_MS = 2000;
const SILENCE_MS = 4000;

/** The server's events, from the first shard that is to be shown; comes back when it is lost. */
export class Events {
  private readonly listener: Listener;
  private source: EventSource | undefined;
  private from = 0;
  private retrying = 0;
  private silence = 0;

  constructor(listener: Listener) {
    this.listener = listener;
  }

  open(from: number): void {
    this.from = from;
    this.close();
    const source = new EventSource(`${STREAM}?from=${from}`);
    this.source = source;
    this.expectNews();
    const on = <T>(name: string, take: (data: T) => void): void => {
      source.addEventListener(name, (event) => {
        this.expectNews();
        take(JSON.parse((event as MessageEvent<string>).data));
      });
    };
    on<Hello>('hello', (hello) => {
      if (hello.protocol === PROTOCOL) return this.listener.hello(hello);
      location.reload(); // another version serves now: it has a page of its own
    });
    on<Sample>('sample', (sample) => {
      this.listener.state('live', 'Live');
      this.listener.sample(sample);
    });
    on<Waiting>('waiting', ({ seconds }) => {
      this.listener.state('lost', 'Waiting', `A shard has not answered for ${seconds} s.`);
    });
    on<Farewell>('end', ({ reason }) =>
      this.retry('ended', 'Ended', `${reason} This page looks for the next one here.`),
    );
    source.addEventListener('error', () => void this.explain());
  }

  private close(): void {
    clearTimeout(this.retrying);
    clearTimeout(this.silence);
    this.source?.close();
    this.source = undefined;
  }

  private retry(state: State, text: string, trouble: string): void {
    this.close();
    this.listener.state(state, text, trouble);
    this.retrying = window.setTimeout(() => void this.tryAgain(state, text, trouble), RETRY_MS);
  }

  /** Asks first: what refuses a stream says why, which an EventSource does not tell. */
  private async tryAgain(state: State, text: string, trouble: string): Promise<void> {
    const why = await refusal();
    if (why === undefined) this.open(this.from);
    else this.retry(why === '' ? state : 'lost', why === '' ? text : 'Refused', why === '' ? trouble : why);
  }

  private async explain(): Promise<void> {
    this.close();
    this.retry('lost', 'Connection lost', 'Connection lost, trying again.');
  }

  private expectNews(): void {
    clearTimeout(this.silence);
    this.silence = window.setTimeout(() => {
      this.listener.state('lost', 'No news', 'The event loop is blocked, or the connection is lost.');
    }, SILENCE_MS);
  }
}

/** Why the server does not serve: a sentence; '' where it does not answer at all; undefined where it would. */
async function refusal(): Promise<string | undefined> {
  const giveUp = new AbortController();
  try {
    const answer = await fetch(STREAM, { signal: giveUp.signal });
    if (answer.ok) return undefined;
    return (await answer.text()).trim();
  } catch {
    // Nobody listens there.
    return '';
  } finally {
    giveUp.abort();
  }
}
