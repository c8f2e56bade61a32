// Events of a stream, for every client.

/** Yields each event of a `text/event-stream` whose data are lines of JSON. */
export async function* events<Event>(stream: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of stream) {
    const blocks = (text + decoder.decode(piece, { stream: true })).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)/.exec(block) ?? [];
      if (event && data) yield { event, data: JSON.parse(data) } as Event;
    }
  }
}
