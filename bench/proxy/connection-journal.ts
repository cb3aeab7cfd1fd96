import type { ConnectionEnd, ConnectionStart, Outcome } from '../../examples/tcp-proxy/proxy.ts';

/** What is known of a connection on the proxy's side. */
export interface ConnectionRecord {
  clientPort: number | undefined;
  proxyPort: number;
  /** Date.now() */
  acceptedAt: number;
  /** Date.now(); undefined: not by the proxy. */
  endedAt?: number | undefined;
  /** 'open': it has not ended. 'lost': it was open when its thread was killed. */
  outcome: Outcome | 'open' | 'lost';
}

export interface ConnectionCounts {
  accepted: number;
  ended: number;
  cut: number;
}

const outcomes: readonly ConnectionRecord['outcome'][] = [
  ...(['open', 'lost', 'served', 'failed'] as const),
  ...(['connect', 'secure', 'firstByte', 'idle', 'halfClose', 'lifetime', 'drain'] as const),
];
const CODE_BITS = 4;
const CODES = 2 ** CODE_BITS - 1;
const HEADER_BYTES = 16;
/** Its two times, its port with its outcome. */
const RECORD_BYTES = 20;
const [ACCEPTED, ENDED, CUT, PROXY_PORT] = [0, 1, 2, 3];

/**
 * What a proxy's connections have come to, in memory that its thread shares with the main thread: a message that is not
 * sent yet dies with a thread that is killed, and a journal tells what the thread did to its last instruction.
 */
export class ConnectionJournal {
  readonly memory: SharedArrayBuffer;
  readonly #header: Int32Array;
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  /** By connection: the client's port, and the outcome's code. */
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    const capacity = (memory.byteLength - HEADER_BYTES) / RECORD_BYTES;
    this.memory = memory;
    this.#header = new Int32Array(memory, 0, HEADER_BYTES / 4);
    this.#starts = new Float64Array(memory, HEADER_BYTES, capacity);
    this.#ends = new Float64Array(memory, HEADER_BYTES + 8 * capacity, capacity);
    this.#words = new Int32Array(memory, HEADER_BYTES + 16 * capacity, capacity);
  }

  /** @param capacity most connections; the next throws a RangeError */
  static allocate(capacity: number): ConnectionJournal {
    return new ConnectionJournal(new SharedArrayBuffer(HEADER_BYTES + RECORD_BYTES * capacity));
  }

  noteListening(proxyPort: number): void {
    Atomics.store(this.#header, PROXY_PORT, proxyPort);
  }

  noteAccepted({ number, clientPort = 0, acceptedAt }: ConnectionStart): void {
    this.#starts[number - 1] = acceptedAt;
    Atomics.store(this.#words, number - 1, clientPort << CODE_BITS);
    Atomics.store(this.#header, ACCEPTED, number); // the last: whoever reads so many finds them written
  }

  noteEnded({ number, clientPort = 0, outcome }: ConnectionEnd): void {
    this.#ends[number - 1] = Date.now();
    Atomics.store(this.#words, number - 1, (clientPort << CODE_BITS) | outcomes.indexOf(outcome));
    Atomics.add(this.#header, ENDED, 1);
    if (outcome !== 'served' && outcome !== 'failed') Atomics.add(this.#header, CUT, 1);
  }

  counts(): ConnectionCounts {
    const [accepted, ended, cut] = [ACCEPTED, ENDED, CUT].map((word) => Atomics.load(this.#header, word));
    return { accepted: accepted!, ended: ended!, cut: cut! };
  }

  /** In the order in which they were accepted. */
  records(): ConnectionRecord[] {
    const proxyPort = Atomics.load(this.#header, PROXY_PORT);
    return Array.from({ length: this.counts().accepted }, (_, at) => {
      const word = Atomics.load(this.#words, at);
      const clientPort = word >> CODE_BITS || undefined;
      const endedAt = this.#ends[at] || undefined;
      const outcome = outcomes[word & CODES]!;
      return { clientPort, proxyPort, acceptedAt: this.#starts[at]!, endedAt, outcome };
    });
  }
}
