import { process } from '../process.ts';
import { messageOf, show } from '../show.ts';
import { PayloadError } from './durable-error.ts';

/**
 * The bytes of a payload: one for the format, then the value. JSON is for readers in other languages; the structured clone keeps
 * Map, Date, BigInt, typed arrays and circles, and is read by this version of Node and newer ones.
 */
export type PayloadFormat = 'structured-clone' | 'json';

/** Loaded with the first payload. */
const v8 = () => process.getBuiltinModule('node:v8');

const CLONE = 0x63; // c
const JSON_TEXT = 0x6a; // j

/** Throws PayloadError. Undefined is stored as no bytes. */
export function encodePayload(value: unknown, format: PayloadFormat, limit: number): Uint8Array | undefined {
  if (value === undefined) return undefined;
  const body = bodyOf(value, format);
  if (body.length > limit) {
    const message = `The payload has ${body.length} bytes, more than options.maxPayloadBytes, which is ${limit}`;
    throw new PayloadError('ERR_PAYLOAD_TOO_LARGE', message);
  }
  const bytes = Buffer.allocUnsafeSlow(1 + body.length);
  bytes[0] = format === 'json' ? JSON_TEXT : CLONE;
  bytes.set(body, 1);
  return bytes;
}

export function decodePayload(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined) return undefined;
  const body = bytes.subarray(1);
  return bytes[0] === JSON_TEXT ? JSON.parse(Buffer.from(body).toString()) : v8().deserialize(body);
}

function bodyOf(value: unknown, format: PayloadFormat): Buffer {
  let cause: unknown;
  try {
    const body: Buffer | string | undefined = format === 'json' ? JSON.stringify(value) : v8().serialize(value);
    if (body !== undefined) return typeof body === 'string' ? Buffer.from(body) : body;
  } catch (error) {
    cause = error;
  }
  const by = format === 'json' ? 'JSON' : 'the structured clone';
  const why = cause === undefined ? '' : `: ${messageOf(cause)}`;
  const message = `The payload cannot be stored by ${by}, got ${show(value)}${why}`;
  throw new PayloadError('ERR_PAYLOAD_NOT_CLONEABLE', message, { cause });
}
