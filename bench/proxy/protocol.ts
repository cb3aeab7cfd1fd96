/**
 * What the load generator asks of the test upstream. The proxy between them sees only bytes.
 *
 *   request   "<verb> <answer bytes> <delay ms> <body bytes>\n", then the body
 *   answer    after the delay, so many bytes of the pattern, from its beginning
 *
 *   verb      the upstream
 *   answer    answers, and ends its side when the client has ended its own
 *   bye       answers, then ends its side first
 *   hush      never answers
 *   stall     answers half, then falls silent
 *   linger    answers at once, but when the client ends it keeps quiet for the delay, then dribbles on for ever
 */
const verbs = ['answer', 'bye', 'hush', 'stall', 'linger'] as const;

type Verb = (typeof verbs)[number];

export interface Request {
  verb: Verb;
  answerBytes: number;
  /** ms */
  delay: number;
  bodyBytes: number;
}

export const MAX_ANSWER = 8 * 2 ** 20;
const MAX_LINE = 64;
const NEWLINE = 10;

const isVerb = (word: string): word is Verb => (verbs as readonly string[]).includes(word);

/** No stretch of it occurs twice, so a chunk that is lost, doubled or out of its turn is noticed. */
const pattern = ((): Buffer => {
  const words = new Uint32Array(MAX_ANSWER / 4);
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i, 0x9e3779b1) ^ (i >>> 7);
  return Buffer.from(words.buffer);
})();

export const patternOf = (length: number): Buffer => pattern.subarray(0, length);

export const continuesPattern = (chunk: Buffer, offset: number): boolean =>
  pattern.subarray(offset, offset + chunk.length).equals(chunk);

export const encodeRequest = ({ verb, answerBytes, delay, bodyBytes }: Request): Buffer =>
  Buffer.concat([Buffer.from(`${verb} ${answerBytes} ${delay} ${bodyBytes}\n`), patternOf(bodyBytes)]);

const decodeLine = (line: string): Request => {
  const [verb = '', ...numbers] = line.split(' ');
  const [answerBytes = Number.NaN, delay = Number.NaN, bodyBytes = Number.NaN] = numbers.map(Number);
  if (!isVerb(verb) || !(answerBytes <= MAX_ANSWER) || !(delay >= 0) || !(bodyBytes <= MAX_ANSWER)) {
    throw new Error(`not a request: ${JSON.stringify(line)}`);
  }
  return { verb, answerBytes, delay, bodyBytes };
};

/** Cuts a stream of chunks into requests, however the chunks fall. Bodies are counted, not kept. */
export class RequestReader {
  #line = '';
  #request: Request | undefined;
  #bodyLeft = 0;
  readonly #onRequest: (request: Request) => void;

  constructor(onRequest: (request: Request) => void) {
    this.#onRequest = onRequest;
  }

  /** @throws Error at bytes that are no request */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.#request === undefined ? this.#readLine(chunk, at) : this.#skipBody(chunk, at);
  }

  #readLine(chunk: Buffer, from: number): number {
    const newline = chunk.indexOf(NEWLINE, from);
    const to = newline < 0 ? chunk.length : newline;
    this.#line += chunk.toString('latin1', from, Math.min(to, from + MAX_LINE + 1));
    if (this.#line.length > MAX_LINE) throw new Error(`not a request: ${JSON.stringify(this.#line)}`);
    if (newline < 0) return chunk.length;
    const request = decodeLine(this.#line);
    this.#line = '';
    this.#request = request;
    this.#bodyLeft = request.bodyBytes;
    this.#finishIfWhole();
    return newline + 1;
  }

  #skipBody(chunk: Buffer, from: number): number {
    const skipped = Math.min(this.#bodyLeft, chunk.length - from);
    this.#bodyLeft -= skipped;
    this.#finishIfWhole();
    return from + skipped;
  }

  #finishIfWhole(): void {
    if (this.#request === undefined || this.#bodyLeft > 0) return;
    const request = this.#request;
    this.#request = undefined;
    this.#onRequest(request);
  }
}
