import type { ServerResponse } from 'node:http';

/** Maximum of streams at a time. */
export const MAX_STREAMS = 32;
/** Bytes that may wait for a client that does not read; with more, it is dropped. The system buffers some more. */
const MAX_WAITING_BYTES = 256 * 1024;

export interface EventStream {
  readonly response: ServerResponse;
  /** The first shard that the stream shows. */
  readonly from: number;
}

const frame = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`;

/** The open event streams; sends events to each that reads. */
export class EventStreams {
  private readonly open = new Set<EventStream>();
  /** Called when the first stream opens, and when the last closes. */
  private readonly changed: (isWatched: boolean) => void;

  constructor(changed: (isWatched: boolean) => void) {
    this.changed = changed;
  }

  get count(): number {
    return this.open.size;
  }

  /** Precondition: there are fewer than MAX_STREAMS. */
  add(stream: EventStream, hello: string): void {
    const { response } = stream;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    });
    this.open.add(stream);
    response.on('close', () => this.remove(stream));
    this.write(stream, frame('hello', hello));
    if (this.open.size === 1) this.changed(true);
  }

  /** Sends each stream its event: one text for all that show the same shards. Returns whether there is any stream. */
  send(event: string, dataFrom: (from: number) => string): void {
    const texts = new Map<number, string>();
    for (const stream of this.open) {
      let text = texts.get(stream.from);
      if (text === undefined) {
        text = frame(event, dataFrom(stream.from));
        texts.set(stream.from, text);
      }
      this.write(stream, text);
    }
  }

  /** Ends all streams, with a last event to those that read. */
  end(event: string, data: string): void {
    for (const stream of [...this.open]) {
      const { response } = stream;
      if (response.writableLength > 0) response.destroy();
      else response.end(frame(event, data));
      this.remove(stream);
    }
  }

  private write(stream: EventStream, text: string): void {
    if (stream.response.writableLength > MAX_WAITING_BYTES) {
      stream.response.destroy();
      this.remove(stream);
    } else {
      stream.response.write(text);
    }
  }

  private remove(stream: EventStream): void {
    if (this.open.delete(stream) && this.open.size === 0) this.changed(false);
  }
}
