/** What happens to a user's runs, media, threads and credits, as one stream that does not end. */
import type { Access, CallOptions } from './calling.ts';
import { parseEvent, readConnection } from './connection.ts';
import { AtelierError } from './errors.ts';
import { createPauses } from './pausing.ts';

interface OfThread {
  readonly threadId: string;
}
interface OfRun extends OfThread {
  readonly taskId: string;
}
interface OfMedia extends OfRun {
  readonly kind: 'image' | 'video';
  /** Of the part of the answer that shows it. */
  readonly toolCallId: string;
}

interface OfGeneration {
  readonly generationId: string;
  readonly kind: 'image' | 'video';
}

export type UserEvent = {
  /** Pass the id of the last event as `lastEventId` to continue after it, for an hour. */
  readonly id: string;
  /** ISO 8601. */
  readonly timestamp: string;
} & (
  | (OfRun & { readonly type: 'run.queued' | 'run.started' })
  | (OfRun & {
      readonly type: 'approval.requested';
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly toolName: string;
      /** What the call costs. */
      readonly credits: number;
    })
  | (OfRun & {
      readonly type: 'run.ended';
      readonly status: 'completed' | 'failed' | 'aborted';
      readonly error: string | null;
    })
  | (OfMedia & { readonly type: 'media.completed'; readonly assetId: string })
  | (OfMedia & { readonly type: 'media.failed'; readonly error: string })
  | (OfGeneration & { readonly type: 'generation.completed' })
  | (OfGeneration & { readonly type: 'generation.failed'; readonly status: 'failed' | 'canceled' })
  | { readonly type: 'library.changed' }
  | (OfThread & { readonly type: 'thread.updated' | 'thread.deleted' })
  | (Partial<OfRun> & { readonly type: 'credits.changed'; readonly credits: number })
);

export interface EventsOptions extends Pick<CallOptions, 'signal'> {
  /** Without it, the events from now on. */
  readonly lastEventId?: string | undefined;
}

/**
 * Yields events in order and reconnects whenever the connection ends, with a renewed access token if necessary. Throws `AtelierError`
 * (401, or repeatedly unreachable) and the signal's reason.
 */
export async function* followEvents(access: Access, options: EventsOptions = {}): AsyncGenerator<UserEvent> {
  const { signal } = options;
  const pauses = createPauses(access.patience, signal);
  let { lastEventId } = options;
  for (;;) {
    signal?.throwIfAborted();
    let reason: unknown = new Error('the stream was interrupted');
    try {
      for await (const { id, data } of readConnection(access, '/events', lastEventId, signal)) {
        lastEventId = id ?? lastEventId;
        pauses.reset();
        if (id !== undefined && data !== '') yield { ...parseEvent<UserEvent>(data), id };
      }
    } catch (error) {
      if (error instanceof AtelierError && error.code === 'unexpected_answer') throw error;
      reason = error;
    }
    signal?.throwIfAborted();
    await pauses.pause(reason);
  }
}
