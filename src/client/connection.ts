/** Streams of server-sent events that resume after the last received event (`Last-Event-ID`), on any instance. */
import { type Access, request } from './calling.ts';
import { AtelierError, errorOf, parseObject } from './errors.ts';
import { createPauses, watchForSilence } from './pausing.ts';

/**
 * Yields the events after the id `lastEventId`, and connects again whenever the connection ends, with a renewed access token if
 * necessary. No event is lost and none is duplicated. Throws `AtelierError` (403, 404, …, or repeatedly unreachable) and the signal's
 * reason.
 */
export async function* followStream(
  access: Access,
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent> {
  const pauses = createPauses(access.patience, signal);
  let latest = lastEventId;
  for (;;) {
    signal?.throwIfAborted();
    let reason: unknown = new Error('the stream was interrupted');
    try {
      for await (const event of readConnection(access, path, latest, signal)) {
        latest = event.id ?? latest;
        pauses.reset();
        yield event;
      }
    } catch (error) {
      if (error instanceof AtelierError && error.code === 'unexpected_answer') throw error;
      reason = error;
    }
    signal?.throwIfAborted();
    await pauses.pause(reason);
  }
}

/** Ends when the connection does. Throws if it is refused, cut or silent, and the signal's reason. */
async function* readConnection(
  access: Access,
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent> {
  const silence = watchForSilence(access.patience, signal, 'the stream was silent for too long');
  try {
    const response = await request(access, path, {
      headers: { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
      signal: silence.signal,
      cache: 'no-store',
    });
    if (!response.ok) throw await errorOf(response);
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream') || response.body === null)
      throw unexpected(`The stream has the content type ${type || 'none'}.`);
    yield* readEvents(response.body, silence.interrupt);
  } finally {
    silence.end();
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
