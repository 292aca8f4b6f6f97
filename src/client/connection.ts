/** One connection to a stream of events, from its response to its end. */
import { type Access, request } from './calling.ts';
import { AtelierError, errorOf, parseObject } from './errors.ts';
import { patienceOf } from './pausing.ts';

/** Ends when the connection does. Throws if it is refused, cut or silent, and the signal's reason. */
export async function* readConnection(
  access: Access,
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent> {
  const { silentMs } = patienceOf(access.patience);
  const connection = new AbortController();
  const onAbort = () => connection.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const onSilence = () => connection.abort(new Error('the stream was silent for too long'));
  let timer = setTimeout(onSilence, silentMs);
  const onBytes = () => {
    clearTimeout(timer);
    timer = setTimeout(onSilence, silentMs);
  };
  try {
    const response = await request(access, path, {
      headers: { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
      signal: connection.signal,
      cache: 'no-store',
    });
    if (!response.ok) throw await errorOf(response);
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream') || response.body === null)
      throw unexpected(`The stream has the content type ${type || 'none'}.`);
    yield* readEvents(response.body, onBytes);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    connection.abort();
  }
}

/** Throws `unexpected_answer` unless the text is an object with a type. */
export function parseEvent<Event extends { readonly type: string }>(data: string): Event {
  const event = parseObject(data);
  if (typeof event?.type !== 'string') throw unexpected('An event of the stream has no type.');
  return event as Event;
}

const unexpected = (message: string) => new AtelierError('unexpected_answer', message);

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
