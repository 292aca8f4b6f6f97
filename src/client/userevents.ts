/** What happens to a user's runs, media, threads and credits, as one stream that does not end. */
import type { Access, CallOptions } from './calling.ts';
import { followStream, parseEvent } from './connection.ts';

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

/** Yields events in order. Throws `AtelierError` (401, or repeatedly unreachable) and the signal's reason. */
export async function* followEvents(
  access: Access,
  { lastEventId, signal }: EventsOptions = {},
): AsyncGenerator<UserEvent> {
  for await (const { id, data } of followStream(access, '/events', lastEventId, signal))
    if (id !== undefined && data !== '') yield { ...parseEvent<UserEvent>(data), id };
}
