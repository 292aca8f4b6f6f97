/** Server-sent events, read as they come: each with its id, so that a cut connection can go on behind the last one. */

export interface ServerEvent {
  readonly id: string | undefined;
  readonly data: string;
}

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .getReader();
  let pending = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      pending += value;
      const blocks = pending.split(/\r?\n\r?\n/);
      pending = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Comments keep the connection awake and say nothing. */
function parseEvent(block: string): ServerEvent | undefined {
  const fields = block.split(/\r?\n/).map((line) => /^(\w+): ?(.*)$/.exec(line) ?? []);
  const of = (name: string) => fields.filter(([, field]) => field === name).map(([, , value = '']) => value);
  const data = of('data');
  return data.length === 0 ? undefined : { id: of('id').at(-1), data: data.join('\n') };
}
