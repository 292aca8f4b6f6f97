/** What users hear of their own account at `GET /events` (docs/specification/agent.md#events). */
import type { MediaKind } from './api.ts';

interface OfThread {
  readonly threadId: string;
}

interface OfRun extends OfThread {
  readonly taskId: string;
}

interface OfMedia extends OfRun {
  readonly kind: MediaKind;
  /** Of the part of the answer that shows it. */
  readonly toolCallId: string;
}

interface OfGeneration {
  readonly generationId: string;
  readonly kind: MediaKind;
}

export type UserEvent =
  | (OfRun & { readonly type: 'run.queued' })
  | (OfRun & { readonly type: 'run.started' })
  | (OfRun & { readonly type: 'run.ended'; readonly status: string; readonly error: string | null })
  | (OfRun & {
      readonly type: 'approval.requested';
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly toolName: string;
      readonly credits: number;
    })
  | (OfMedia & { readonly type: 'media.completed'; readonly assetId: string })
  | (OfMedia & { readonly type: 'media.failed'; readonly error: string })
  | (OfGeneration & { readonly type: 'generation.completed' })
  | (OfGeneration & { readonly type: 'generation.failed'; readonly status: 'failed' | 'canceled' })
  | (OfThread & { readonly type: 'thread.updated' })
  | (OfThread & { readonly type: 'thread.deleted' })
  /** The media service announces changes that the user made: uploads, deletions, names, favorites, collections. */
  | { readonly type: 'library.changed' }
  /** `credits` is the balance after the settlement. */
  | (OfRun & { readonly type: 'credits.changed'; readonly credits: number });
