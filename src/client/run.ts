/**
 * The output of a run as one continuous stream. If the connection is cut, it resumes after the last received event
 * (`Last-Event-ID`), on any instance. No event is lost and none is duplicated.
 */
import { type Access, request } from './calling.ts';
import type { RunChunk } from './chunks.ts';
import { AtelierError, errorOf, parseObject } from './errors.ts';
import { createPauses, patienceOf } from './pausing.ts';
import { readEvents } from './sse.ts';

/**
 * Yields the run's events from the first to the last. Throws `AtelierError` (403, 404, …, or repeatedly unreachable) and the signal's
 * reason. If the reader stops, the run continues.
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
      reason = new Error('the stream was interrupted');
    } catch (error) {
      if (error instanceof AtelierError && error.code === 'unexpected_answer') throw error;
      reason = error;
    }
    signal?.throwIfAborted();
    await pauses.pause(reason);
  }
}

interface RunEvent {
  readonly id: string | undefined;
  /** `undefined` marks the end. */
  readonly chunk: RunChunk | undefined;
}

/** Reads one connection until it ends or is cut. */
async function* readOnce(
  access: Access,
  taskId: string,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunEvent> {
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
    const response = await request(access, `/stream/${encodeURIComponent(taskId)}`, {
      headers: { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
      signal: connection.signal,
      cache: 'no-store',
    });
    if (!response.ok) throw await errorOf(response);
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream') || response.body === null)
      throw unexpected(`The stream has the content type ${type || 'none'}.`);
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
