/** Server-sent events of a response (WHATWG HTML, 9.2). An incomplete event at the end is dropped. */

export interface ServerSentEvent {
  readonly id: string | undefined;
  /** Empty if the server only sets the id to resume from. */
  readonly data: string;
}

/** Accepts text in pieces of any size. `onBytes` is called for all input, including comments. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let id: string | undefined;
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      // Only the new text is searched. Otherwise a long line would be read again for each of its pieces.
      const lines = decoder.decode(value, { stream: true }).split('\n');
      lines[0] = rest + lines[0];
      rest = lines.pop() ?? '';
      for (const raw of lines) {
        const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
        if (line === '') {
          if (data.length > 0 || id !== undefined) yield { id, data: data.join('\n') };
          id = undefined;
          data = [];
        } else if (line.startsWith('data:')) data.push(fieldOf(line, 'data:'));
        else if (line.startsWith('id:')) id = fieldOf(line, 'id:');
      }
    }
  } finally {
    // This also closes the connection if the reader stops early.
    await reader.cancel().catch(() => undefined);
  }
}

function fieldOf(line: string, field: string): string {
  const value = line.slice(field.length);
  return value.startsWith(' ') ? value.slice(1) : value;
}
