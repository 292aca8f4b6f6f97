/** The events that webhooks carry, and the data of each (docs/specification/webhooks.md#events). */

export interface WebhookEvents {
  'run.ended': RunFacts & { readonly status: string };
  'media.completed': RunFacts & { readonly assetId: string; readonly kind: 'image' | 'video' };
  'media.failed': RunFacts & { readonly kind: 'image' | 'video'; readonly error: string | null };
  'account.created': { readonly userId: string; readonly email: string | null };
}

interface RunFacts {
  readonly taskId: string;
  readonly threadId: string;
  readonly userId: string;
}

export type WebhookEventType = keyof WebhookEvents;

export const webhookEventTypes = [
  'run.ended',
  'media.completed',
  'media.failed',
  'account.created',
] as const satisfies readonly WebhookEventType[];
