/** The events that webhooks carry, and the data of each (docs/specification/webhooks.md#events). */

export interface WebhookEvents {
  'run.ended': RunFacts & { readonly status: string };
  'approval.requested': RunFacts & {
    readonly approvalId: string;
    readonly toolCallId: string;
    readonly toolName: string;
    readonly credits: number;
  };
  'media.completed': RunFacts & { readonly assetId: string; readonly kind: 'image' | 'video' };
  'media.failed': RunFacts & { readonly kind: 'image' | 'video'; readonly error: string | null };
  'generation.completed': GenerationFacts;
  'generation.failed': GenerationFacts & { readonly status: 'failed' | 'canceled' };
  'account.created': { readonly userId: string; readonly email: string | null };
  'account.deleted': { readonly userId: string };
  'asset.registered': AssetFacts & { readonly mime: string; readonly byteSize: number };
  'asset.deleted': AssetFacts;
  /** `label`: it was blocked for a label of the classifier. `null`: it is prohibited content. */
  'asset.blocked': AssetFacts & { readonly sha256: string; readonly list: string; readonly label: string | null };
  'video_task.completed': TaskFacts & { readonly assetIds: readonly string[] };
  'video_task.failed': TaskFacts & { readonly error: string };
  'budget.reached': {
    readonly period: 'day' | 'month';
    /** The first day of the period, in UTC. */
    readonly start: string;
    readonly percent: number;
    readonly budgetUsd: number;
    readonly spentUsd: number;
  };
  'mail.bounced': MailFacts;
  'mail.complained': MailFacts;
}

export interface AssetFacts {
  readonly assetId: string;
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly kind: string;
}

interface TaskFacts {
  readonly taskId: string;
  readonly ownerId: string;
}

interface MailFacts {
  /** As the provider names the mail, for `GET /emails/:id`. */
  readonly emailId: string;
  /** The recipients that the provider names. */
  readonly to: readonly string[];
  readonly reason: string | null;
  /** The recipients that get no more mail. */
  readonly suppressed: readonly string[];
}

interface GenerationFacts {
  readonly generationId: string;
  readonly userId: string;
  readonly kind: 'image' | 'video';
}

interface RunFacts {
  readonly taskId: string;
  readonly threadId: string;
  readonly userId: string;
}

export type WebhookEventType = keyof WebhookEvents;

export const webhookEventTypes = [
  'run.ended',
  'approval.requested',
  'media.completed',
  'media.failed',
  'generation.completed',
  'generation.failed',
  'account.created',
  'account.deleted',
  'asset.registered',
  'asset.deleted',
  'asset.blocked',
  'video_task.completed',
  'video_task.failed',
  'budget.reached',
  'mail.bounced',
  'mail.complained',
] as const satisfies readonly WebhookEventType[];
