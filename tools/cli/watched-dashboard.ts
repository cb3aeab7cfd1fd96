import { UsageError } from '../../bench/replay/command-line.ts';
import { type Farewell, type Hello, PROTOCOL, type Sample, type Waiting } from '../../src/extras/dashboard/messages.ts';
import { Model, type View } from '../../src/extras/dashboard/page/model.ts';
import { eventsIn, type StreamEvent } from './event-stream.ts';

/** The messages of a dashboard, in order, a sample as it is shown; `ended` is the last. */
export type News =
  | { readonly view: View; readonly text: string }
  | { readonly waiting: number }
  | { readonly ended: string };

/** ms that an answer may take to begin. */
const PATIENCE = 5000;
/** ms without a message after which the connection counts as lost: a dashboard sends one each second. */
const SILENCE_MS = 15_000;
/** Characters to show of an answer that is not a dashboard's, and of a version. */
const MAX_REASON_LENGTH = 200;
/** Characters of a token: a header holds no others, and no dashboard has one of others. */
const TOKEN = /^[\w-]{16,256}$/;

/**
 * Reads a dashboard's events until it ends, or `signal` is aborted. `show` makes the text of a sample. Throws
 * UsageError for an invalid address or token, and an Error with one sentence if there is no dashboard, it refuses, or
 * the connection is lost.
 */
export async function* watchDashboard(
  address: string,
  token: string | undefined,
  show: (view: View) => string,
  signal: AbortSignal,
): AsyncGenerator<News> {
  const url = eventsAddress(address);
  const bearer = token ?? url.searchParams.get('token') ?? undefined;
  if (bearer !== undefined && !TOKEN.test(bearer)) {
    throw new UsageError("the token must be 16 to 256 letters, digits, '-' and '_'");
  }
  url.searchParams.delete('token');
  const where = url.origin;
  const silence = new AbortController();
  const answer = await ask(url, bearer, AbortSignal.any([signal, silence.signal]));
  const timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const reader = new EventReader(where, show);
  try {
    for await (const event of eventsIn(textOf(answer))) {
      timer.refresh();
      const news = reader.read(event);
      if (news !== undefined) yield news;
      if (news !== undefined && 'ended' in news) return;
    }
  } catch (error) {
    if (signal.aborted) return;
    if (silence.signal.aborted)
      throw new Error(`${where} has sent nothing for ${SILENCE_MS / 1000} s`, { cause: error });
    if (error instanceof TypeError) throw new Error(`The connection to ${where} was lost`, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    silence.abort(); // closes the connection of a reader that has seen enough
  }
  if (!signal.aborted) throw new Error(`The connection to ${where} was lost`);
}

/** Another version serves. */
class VersionError extends Error {}

/** What the events of a stream say. They are a stranger's: each may be anything. */
export class EventReader {
  private readonly where: string;
  private readonly show: (view: View) => string;
  private model: Model | undefined;

  constructor(where: string, show: (view: View) => string) {
    this.where = where;
    this.show = show;
  }

  /**
   * Returns undefined for what is nothing to tell. Throws an Error with one sentence for what no dashboard of this
   * version sends.
   */
  read(event: StreamEvent): News | undefined {
    try {
      return this.newsOf(event);
    } catch (error) {
      if (error instanceof VersionError) throw error;
      throw new Error(`${this.where} is not a dashboard of shardwheel`, { cause: error });
    }
  }

  private newsOf({ event, data }: StreamEvent): News | undefined {
    const message: unknown = JSON.parse(data);
    if (event === 'hello') {
      this.greet(message as Hello);
      return undefined;
    }
    if (this.model === undefined) throw new TypeError('It has not begun with a hello');
    if (event === 'sample') {
      const view = this.model.take(message as Sample);
      return { view, text: this.show(view) };
    }
    if (event === 'waiting') return { waiting: numberOf((message as Waiting).seconds) };
    if (event === 'end') return { ended: textIn((message as Farewell).reason) };
    return undefined;
  }

  private greet(hello: Hello): void {
    const { protocol, version } = hello;
    if (protocol === PROTOCOL) {
      this.model = new Model(hello);
      return;
    }
    const shown = textIn(version).slice(0, MAX_REASON_LENGTH);
    throw new VersionError(`${this.where} is served by shardwheel ${shown}: watch it with that`);
  }
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new TypeError('It has no number where a dashboard has one');
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('It has no text where a dashboard has one');
}

/** Throws UsageError. */
function eventsAddress(address: string): URL {
  const text = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`'${address}' is not the address of a dashboard, such as http://127.0.0.1:7373/`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(
      `the address of ${url.origin} must have no name and password: a dashboard has a token, --token`,
    );
  }
  url.pathname = `${url.pathname.replace(/\/$/, '')}/events`;
  return url;
}

const textOf = (answer: Response): AsyncIterable<string> =>
  answer.body?.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>;

async function ask(url: URL, bearer: string | undefined, signal: AbortSignal): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), PATIENCE);
  const headers = { Accept: 'text/event-stream', ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }) };
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.any([signal, late.signal]) });
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (answer.ok && isStream) return answer;
    throw await refusal(url.origin, answer, bearer);
  } catch (error) {
    if (late.signal.aborted) throw new Error(`${url.origin} has not answered within ${PATIENCE / 1000} s`);
    if (!(error instanceof TypeError)) throw error;
    const { code, message } = (error.cause ?? error) as { code?: string; message: string };
    throw new Error(`${url.origin} cannot be reached (${code ?? message})`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Why there is no stream. */
async function refusal(where: string, answer: Response, bearer: string | undefined): Promise<Error> {
  const { status } = answer;
  let reason = '';
  // Not `text()`: what answers may be anything, and of any size.
  for await (const chunk of textOf(answer) ?? []) {
    reason += chunk;
    if (reason.length > MAX_REASON_LENGTH) break;
  }
  if (status === 401 && bearer === undefined)
    return new Error(`${where} needs its token: --token, or SHARDWHEEL_TOKEN`);
  if (status === 401) return new Error(`${where} refuses the token`);
  if (status === 403 || status === 503)
    return new Error(`${where} refuses: ${reason.slice(0, MAX_REASON_LENGTH).trim()}`);
  return new Error(`${where} is not a dashboard of shardwheel`);
}
