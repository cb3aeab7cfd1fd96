import { show } from '../errors.ts';
import { process } from '../process.ts';
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
  const bytes = format === 'json' ? jsonBytes(value) : cloneBytes(value);
  if (bytes.length - 1 > limit) {
    const message = `The payload has ${bytes.length - 1} bytes, more than options.maxPayloadBytes, which is ${limit}`;
    throw new PayloadError('ERR_PAYLOAD_TOO_LARGE', message);
  }
  return bytes;
}

export function decodePayload(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined) return undefined;
  const body = bytes.subarray(1);
  return bytes[0] === JSON_TEXT ? JSON.parse(Buffer.from(body).toString()) : v8().deserialize(body);
}

function jsonBytes(value: unknown): Uint8Array {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw notCloneable(value, 'JSON', cause);
  }
  if (text === undefined) throw notCloneable(value, 'JSON', undefined);
  const bytes = Buffer.allocUnsafeSlow(1 + Buffer.byteLength(text));
  bytes[0] = JSON_TEXT;
  bytes.write(text, 1);
  return bytes;
}

function cloneBytes(value: unknown): Uint8Array {
  let body: Buffer;
  try {
    body = v8().serialize(value);
  } catch (cause) {
    throw notCloneable(value, 'the structured clone', cause);
  }
  const bytes = Buffer.allocUnsafeSlow(1 + body.length);
  bytes[0] = CLONE;
  bytes.set(body, 1);
  return bytes;
}

function notCloneable(value: unknown, format: string, cause: unknown): PayloadError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  const message = `The payload cannot be stored by ${format}, got ${show(value)}${why}`;
  return new PayloadError('ERR_PAYLOAD_NOT_CLONEABLE', message, { cause });
}
