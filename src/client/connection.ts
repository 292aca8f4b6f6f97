/** One connection to a stream of events, from its response to its end. */
import { type Access, request } from './calling.ts';
import { AtelierError, errorOf, parseObject } from './errors.ts';
import { patienceOf } from './pausing.ts';
import { readEvents, type ServerSentEvent } from './sse.ts';

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
