/** One event of a stream of server-sent events. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** Maximum of characters of one event: a dashboard sends no longer ones. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;

/** Parses the events of a stream from chunks of its text. Throws RangeError if one is too long. */
export async function* eventsIn(chunks: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let rest = '';
  for await (const chunk of chunks) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > MAX_EVENT_LENGTH) throw new RangeError(`An event has more than ${MAX_EVENT_LENGTH} characters`);
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line) ?? []);
      const of = (wanted: string): string[] => fields.flatMap(([, name, value]) => (name === wanted ? [value] : []));
      const data = of('data');
      if (data.length > 0) yield { event: of('event').at(-1) ?? 'message', data: data.join('\n') };
    }
  }
}
