/**
 * The output of a run as one continuous stream. If the connection is cut, it resumes after the last received event
 * (`Last-Event-ID`), on any instance. No event is lost and none is duplicated.
 */
import type { Access } from './calling.ts';
import type { RunChunk } from './chunks.ts';
import { parseEvent, readConnection } from './connection.ts';
import { AtelierError } from './errors.ts';
import { createPauses } from './pausing.ts';

/**
 * Yields the run's events from the first, or from the one after the id `after`, to the last. Throws `AtelierError` (403, 404, …, or repeatedly unreachable) and the signal's
 * reason. If the reader stops, the run continues.
 */
export async function* followRun(
  access: Access,
  taskId: string,
  signal?: AbortSignal,
  after?: string,
): AsyncGenerator<RunChunk> {
  const pauses = createPauses(access.patience, signal);
  let lastEventId = after;
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

async function* readOnce(
  access: Access,
  taskId: string,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunEvent> {
  const path = `/stream/${encodeURIComponent(taskId)}`;
  for await (const { id, data } of readConnection(access, path, lastEventId, signal)) {
    if (data === '[DONE]') yield { id, chunk: undefined };
    else yield { id, chunk: parseEvent<RunChunk>(data) };
  }
}
