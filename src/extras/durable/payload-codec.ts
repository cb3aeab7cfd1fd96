import { process } from '../../process.ts';
import { runtime } from '../../runtime.ts';
import { messageOf, show } from '../../show.ts';
import { isPayloadError, PayloadError } from './durable-error.ts';

/**
 * The bytes of a payload: one for the format, then the value. JSON is for readers in other languages, and refuses what
 * it would lose, but writes a Date as a text; the structured clone keeps Map, Date, BigInt, typed arrays and circles,
 * and is read by this version of Node and newer ones.
 */
export type PayloadFormat = 'structured-clone' | 'json';

/** Loaded with the first payload. */
const v8 = () => process.getBuiltinModule('node:v8');

const CLONE = 0x63; // c
const JSON_TEXT = 0x6a; // j

/** Throws PayloadError. Undefined is stored as no bytes. */
export function encodePayload(value: unknown, format: PayloadFormat, limit: number): Uint8Array | undefined {
  if (value === undefined) return undefined;
  if (isPayloadError(value)) throw value; // it stands in the place of one that cannot be read
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

/** Throws PayloadError if this process cannot read it: the bytes are damaged, or of a newer Node. */
export function decodePayload(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined) return undefined;
  try {
    return read(bytes[0], bytes.subarray(1));
  } catch (cause) {
    const message = `This process cannot read a payload of ${bytes.length} bytes: ${messageOf(cause)}`;
    throw new PayloadError('ERR_PAYLOAD_UNREADABLE', message, { cause });
  }
}

/** The payload; in its place, for who only looks, a PayloadError if this process cannot read it. */
export function shownPayload(bytes: Uint8Array | undefined): unknown {
  try {
    return decodePayload(bytes);
  } catch (error) {
    return error;
  }
}

function read(format: number, body: Uint8Array): unknown {
  switch (format) {
    case JSON_TEXT:
      return JSON.parse(Buffer.from(body).toString());
    case CLONE:
      return runtime === 'bun' ? v8().deserialize(body) : deserialize(body);
    default:
      throw new RangeError(`it begins with ${show(format)}`);
  }
}

/** What of Node's deserializer is used here; `_readHostObject`, which Node documents, its types do not have. */
interface ViewReader {
  readHeader(): boolean;
  readValue(): unknown;
  _readHostObject(): ArrayBufferView;
}
type ViewType = new (memory: ArrayBufferLike) => ArrayBufferView;

type Reader = new (bytes: Uint8Array) => ViewReader;

/**
 * Reads as `v8.deserialize` does, whose typed arrays are views of the bytes: a handler that writes to one would change
 * the payload of the next attempt. Here each has memory of its own, as those of `structuredClone` have.
 */
function newReader(Base: Reader): Reader {
  return class extends Base {
    override _readHostObject(): ArrayBufferView {
      const view = super._readHostObject();
      const memory = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
      return Buffer.isBuffer(view) ? Buffer.from(memory) : new (view.constructor as ViewType)(memory);
    }
  };
}

/** Made with the first payload. */
let Deserializer: Reader | undefined;

function deserialize(body: Uint8Array): unknown {
  Deserializer ??= newReader(v8().DefaultDeserializer as unknown as Reader);
  const reader = new Deserializer(body);
  reader.readHeader();
  return reader.readValue();
}

function bodyOf(value: unknown, format: PayloadFormat): Buffer {
  let cause: unknown;
  try {
    const body: Buffer | string | undefined = format === 'json' ? jsonOf(value) : v8().serialize(value);
    if (body !== undefined) return typeof body === 'string' ? Buffer.from(body) : body;
  } catch (error) {
    cause = error;
  }
  const by = format === 'json' ? 'JSON' : 'the structured clone';
  const why = cause === undefined ? '' : `: ${messageOf(cause)}`;
  const message = `The payload cannot be stored by ${by}, got ${show(value)}${why}`;
  throw new PayloadError('ERR_PAYLOAD_NOT_CLONEABLE', message, { cause });
}

/** Throws where JSON would leave out what it cannot express, or put null or {} in its place. */
function jsonOf(value: unknown): string | undefined {
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, found: unknown) {
    const own: unknown = this[key]; // before its toJSON
    const isInvalid = own instanceof Date && Number.isNaN(own.getTime());
    const lost = isInvalid ? 'an invalid Date' : lostInJson(found, Array.isArray(this));
    if (lost !== undefined) throw new TypeError(`it has ${lost}`);
    return found;
  });
}

/** What has properties or items alone, or is written as a text, a number or a truth value. */
const WRITTEN = new Set(['Object', 'Array', 'Number', 'String', 'Boolean']);

/**
 * Names what JSON would lose of a value; a property that is undefined is none, as it reads the same when it is not
 * there.
 */
function lostInJson(value: unknown, inArray: boolean): string | undefined {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (value === undefined) return inArray ? 'undefined in an array' : undefined;
  if (typeof value === 'number' || value instanceof Number)
    return Number.isFinite(Number(value)) ? undefined : `${value}`;
  if (typeof value !== 'object' || value === null) return undefined;
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  return WRITTEN.has(kind) ? undefined : `an object of the kind ${kind}`;
}
