/** The events that webhooks carry, and the data of each (docs/specification/webhooks.md#events). */

export interface WebhookEvents {
  'asset.registered': AssetFacts & { readonly kind: string; readonly mime: string; readonly byteSize: number };
  'asset.deleted': AssetFacts;
  'asset.blocked': AssetFacts & { readonly list: string; readonly sha256: string | null };
  'video_task.completed': VideoTaskFacts;
  'video_task.failed': VideoTaskFacts & { readonly errorCode: string | null };
  'run.ended': RunFacts & { readonly status: string };
  'media.completed': RunFacts & { readonly assetId: string; readonly kind: 'image' | 'video' };
  'media.failed': RunFacts & { readonly kind: 'image' | 'video'; readonly error: string | null };
  'mail.bounced': MailFacts;
  'mail.complained': MailFacts;
  'account.created': { readonly userId: string; readonly email: string | null };
}

interface AssetFacts {
  readonly assetId: string;
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
}

interface VideoTaskFacts {
  readonly taskId: string;
  readonly assetId: string;
  readonly ownerId: string;
}

interface RunFacts {
  readonly taskId: string;
  readonly threadId: string;
  readonly userId: string;
}

interface MailFacts {
  readonly emailId: string | null;
  readonly address: string;
  readonly reason: string | null;
}

export type WebhookEventType = keyof WebhookEvents;

export const webhookEventTypes = [
  'asset.registered',
  'asset.deleted',
  'asset.blocked',
  'video_task.completed',
  'video_task.failed',
  'run.ended',
  'media.completed',
  'media.failed',
  'mail.bounced',
  'mail.complained',
  'account.created',
] as const satisfies readonly WebhookEventType[];
