import { UsageError } from '../replay/command-line.ts';
import { type Ending, type Hello, PROTOCOL, type Sample, type Waiting } from '../src/dashboard/messages.ts';
import { eventsIn } from './event-stream.ts';

/** What a dashboard says, in order. */
export type News = { readonly sample: Sample } | { readonly waiting: number };

/** ms that an answer may take to begin. */
const PATIENCE = 5000;

/** Reads a dashboard's events until it is aborted. Throws an Error with one sentence where there is none, or no more. */
export async function* watchDashboard(
  address: string,
  token: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<News> {
  const url = eventsAddress(address);
  const bearer = token ?? url.searchParams.get('token');
  url.searchParams.delete('token');
  const answer = await ask(url, bearer, signal);
  const body = answer.body?.pipeThrough(new TextDecoderStream());
  let isGreeted = false;
  try {
    for await (const { event, data } of eventsIn(body as AsyncIterable<string>)) {
      const message = JSON.parse(data);
      if (event === 'hello') {
        const { protocol, version } = message as Hello;
        if (protocol !== PROTOCOL) throw new Error(`${address} is served by shardwheel ${version}: watch it with that`);
        isGreeted = true;
      } else if (!isGreeted) {
        throw new Error(`${address} is no dashboard of shardwheel`);
      } else if (event === 'sample') {
        yield { sample: message as Sample };
      } else if (event === 'waiting') {
        yield { waiting: (message as Waiting).seconds };
      } else if (event === 'end') {
        throw new Error(`${address} has ended: ${(message as Ending).reason}`);
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof TypeError) throw new Error(`The connection to ${address} was lost`, { cause: error });
    if (error instanceof SyntaxError) throw new Error(`${address} is no dashboard of shardwheel`, { cause: error });
    throw error;
  }
  if (!signal.aborted) throw new Error(`The connection to ${address} was lost`);
}

/** Throws UsageError. */
function eventsAddress(address: string): URL {
  const text = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  if (!URL.canParse(text))
    throw new UsageError(`'${address}' is no address of a dashboard, such as http://127.0.0.1:7373/`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new UsageError(`'${address}' is no address of http or https`);
  }
  url.pathname = `${url.pathname.replace(/\/$/, '')}/events`;
  return url;
}

async function ask(url: URL, bearer: string | null, signal: AbortSignal): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), PATIENCE);
  const headers = { Accept: 'text/event-stream', ...(bearer !== null && { Authorization: `Bearer ${bearer}` }) };
  let answer: Response;
  try {
    answer = await fetch(url, { headers, signal: AbortSignal.any([signal, late.signal]) });
  } catch (error) {
    if (late.signal.aborted) throw new Error(`${url.origin} has not answered within ${PATIENCE / 1000} s`);
    const { cause } = error as { cause?: { code?: string } };
    throw new Error(`${url.origin} cannot be reached${cause?.code === undefined ? '' : ` (${cause.code})`}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (answer.ok && isStream) return answer;
  const text = answer.ok ? '' : (await answer.text()).trim();
  if (answer.status === 401)
    throw new Error(`${url.origin} refuses ${bearer === null ? 'to answer without its token: --token' : 'the token'}`);
  if (answer.status === 503 || answer.status === 403) throw new Error(`${url.origin} refuses: ${text.slice(0, 200)}`);
  throw new Error(`${url.origin} is no dashboard of shardwheel`);
}
