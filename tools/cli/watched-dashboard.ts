import { type Ending, type Hello, PROTOCOL, type Waiting } from '../../src/dashboard/messages.ts';
import { Model, type View } from '../../src/dashboard/page/model.ts';
import { UsageError } from '../replay/command-line.ts';
import { eventsIn } from './event-stream.ts';

/** The messages of a dashboard, in order; `ended` is the last. */
export type News = { readonly view: View } | { readonly waiting: number } | { readonly ended: string };

/** ms that an answer may take to begin. */
const PATIENCE = 5000;
/** ms without a message after which the connection counts as lost: a dashboard sends one each second. */
const SILENCE = 15_000;
/** Characters to show of an answer that is not a dashboard's. */
const LONGEST_REASON = 200;

/**
 * Reads a dashboard's events until it ends, or `signal` is aborted. Throws UsageError for an invalid address, and an Error with
 * one sentence if there is no dashboard, it refuses, or the connection is lost.
 */
export async function* watchDashboard(
  address: string,
  token: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<News> {
  const url = eventsAddress(address);
  const bearer = token ?? url.searchParams.get('token') ?? undefined;
  url.searchParams.delete('token');
  const where = url.origin;
  const silence = new AbortController();
  const answer = await ask(url, bearer, AbortSignal.any([signal, silence.signal]));
  const timer = setTimeout(() => silence.abort(), SILENCE);
  let model: Model | undefined;
  try {
    for await (const { event, data } of eventsIn(textOf(answer))) {
      timer.refresh();
      const message = JSON.parse(data);
      if (event === 'hello') {
        const { protocol, version } = message as Hello;
        if (protocol !== PROTOCOL) throw new Error(`${where} is served by shardwheel ${version}: watch it with that`);
        model = new Model(message);
      } else if (model === undefined) {
        throw new Error(`${where} is not a dashboard of shardwheel`);
      } else if (event === 'sample') {
        yield { view: model.take(message) };
      } else if (event === 'waiting') {
        yield { waiting: (message as Waiting).seconds };
      } else if (event === 'end') {
        yield { ended: (message as Ending).reason };
        return;
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    if (silence.signal.aborted) throw new Error(`${where} has sent nothing for ${SILENCE / 1000} s`, { cause: error });
    if (error instanceof TypeError) throw new Error(`The connection to ${where} was lost`, { cause: error });
    if (error instanceof SyntaxError) throw new Error(`${where} is not a dashboard of shardwheel`, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    silence.abort(); // closes the connection of a reader that has seen enough
  }
  if (!signal.aborted) throw new Error(`The connection to ${where} was lost`);
}

/** Throws UsageError. */
function eventsAddress(address: string): URL {
  const text = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`'${address}' is not the address of a dashboard, such as http://127.0.0.1:7373/`);
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
    if (reason.length > LONGEST_REASON) break;
  }
  if (status === 401 && bearer === undefined)
    return new Error(`${where} needs its token: --token, or SHARDWHEEL_TOKEN`);
  if (status === 401) return new Error(`${where} refuses the token`);
  if (status === 403 || status === 503) return new Error(`${where} refuses: ${reason.slice(0, LONGEST_REASON).trim()}`);
  return new Error(`${where} is not a dashboard of shardwheel`);
}
