/**
 * What a run says, as one unbroken stream: whenever the connection is cut it goes on after the last event that came
 * (`Last-Event-ID`), on whichever instance answers. No event is lost and none comes twice.
 */
import { type Access, request } from './calling.ts';
import type { RunChunk } from './chunks.ts';
import { AtelierError, parseObject, refusalOf } from './errors.ts';
import { createPauses, patienceOf } from './pausing.ts';
import { readEvents } from './sse.ts';

/**
 * From the run's first event to its end. Throws `AtelierError` (403, 404, …; not reached, again and again) and the
 * signal's reason; to stop reading does not stop the run.
 */
export async function* followRun(access: Access, taskId: string, signal?: AbortSignal): AsyncGenerator<RunChunk> {
  const pauses = createPauses(access.patience, signal);
  let lastEventId: string | undefined;
  for (;;) {
    signal?.throwIfAborted();
    let reason: unknown;
    try {
      for await (const { id, chunk } of readOnce(access, taskId, lastEventId, signal)) {
        if (chunk === undefined) return;
        if (id !== undefined) lastEventId = id;
        pauses.reset();
        yield chunk;
      }
      reason = new Error('the stream broke off');
    } catch (error) {
      if (error instanceof AtelierError && error.code === 'unexpected_answer') throw error;
      reason = error;
    }
    signal?.throwIfAborted();
    await pauses.pause(reason);
  }
}

interface Said {
  readonly id: string | undefined;
  /** `undefined`: that was all. */
  readonly chunk: RunChunk | undefined;
}

/** One connection, up to its end or its cut. */
async function* readOnce(
  access: Access,
  taskId: string,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Said> {
  const { silentMs } = patienceOf(access.patience);
  const connection = new AbortController();
  const onAbort = () => connection.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const onSilence = () => connection.abort(new Error('nothing came for a long time'));
  let timer = setTimeout(onSilence, silentMs);
  const onBytes = () => {
    clearTimeout(timer);
    timer = setTimeout(onSilence, silentMs);
  };
  try {
    const response = await request(access, `/stream/${encodeURIComponent(taskId)}`, {
      headers: { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
      signal: connection.signal,
      cache: 'no-store',
    });
    if (!response.ok) throw await refusalOf(response);
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream') || response.body === null)
      throw unexpected(`The stream came as ${type || 'nothing'}.`);
    for await (const { id, data } of readEvents(response.body, onBytes)) {
      if (data === '[DONE]') yield { id, chunk: undefined };
      else yield { id, chunk: parseChunk(data) };
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    connection.abort();
  }
}

function parseChunk(data: string): RunChunk {
  const chunk = parseObject(data);
  if (typeof chunk?.type !== 'string') throw unexpected('An event of the stream is not a chunk.');
  return chunk as RunChunk;
}

const unexpected = (message: string) => new AtelierError('unexpected_answer', message);
