/** The output of a run as one continuous stream. */
import type { Access } from './calling.ts';
import type { RunChunk } from './chunks.ts';
import { followStream, parseEvent } from './connection.ts';

/**
 * Yields the run's events from the first, or from the one after the id `after`, to the last. Throws as `followStream`. If the reader
 * stops, the run continues.
 */
export async function* followRun(
  access: Access,
  taskId: string,
  signal?: AbortSignal,
  after?: string,
): AsyncGenerator<RunChunk> {
  for await (const { data } of followStream(access, `/stream/${encodeURIComponent(taskId)}`, after, signal)) {
    if (data === '[DONE]') return;
    yield parseEvent<RunChunk>(data);
  }
}
