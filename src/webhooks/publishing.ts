/**
 * Publishes events in the transaction of the change that they report: the job that delivers an event is committed with
 * the change, or neither is.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Clock } from '#platform/clock.ts';
import type { Tx } from '#platform/db/db.ts';
import type { Jobs, Queue } from '#platform/jobs/jobs.ts';
import type { WebhookEvents, WebhookEventType } from './events.ts';

/** The receiver gets `body` byte for byte in every attempt; `id` is the same in every attempt too. */
export interface Delivery {
  readonly id: string;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly publishedAtMs: number;
}

/** Retries for 24 hours; the first one 10 to 20 s after the failure. */
export const deliveryQueue: Queue<Delivery> = {
  name: 'webhooks/deliver',
  payload: z.object({ id: z.string(), body: z.string(), publishedAtMs: z.number() }),
  retryAfterMs: 20_000,
  longestRetryMs: 3 * 60 * 60 * 1000,
  // Age ends a delivery, not the number of attempts.
  maxAttempts: 1000,
};

/** Jobs whose events the receiver need not get after the erasure of their person. */
export const droppedAtErasure = sql<boolean>`
  queue = ${deliveryQueue.name} and payload->>'body' not like '{"type":"account.deleted"%'`;

export interface Webhooks {
  publish<Tables, Type extends WebhookEventType>(tx: Tx<Tables>, type: Type, data: WebhookEvents[Type]): Promise<void>;
}

export const noWebhooks: Webhooks = { publish: async () => undefined };

export interface PublishingOptions {
  readonly jobs: Pick<Jobs, 'enqueue'>;
  readonly clock: Clock;
  /** Other types are not sent. */
  readonly types: readonly WebhookEventType[];
}

export function createPublisher({ jobs, clock, types }: PublishingOptions): Webhooks {
  const sent: ReadonlySet<WebhookEventType> = new Set(types);
  return {
    publish: async (tx, type, data) => {
      if (!sent.has(type)) return;
      const publishedAtMs = clock.now();
      const delivery = { id: `msg_${randomUUID()}`, body: bodyOf(type, data, publishedAtMs), publishedAtMs };
      await jobs.enqueue(tx, deliveryQueue, delivery);
    },
  };
}

export function bodyOf<Type extends WebhookEventType>(type: Type, data: WebhookEvents[Type], atMs: number): string {
  return JSON.stringify({ type, timestamp: new Date(atMs).toISOString(), data });
}

/** New accounts get these credits, and the transaction that creates their profile publishes `account.created`. */
export function welcomeOf(webhooks: Webhooks | undefined, credits: number) {
  return {
    credits,
    publish: async <Tables>(tx: Tx<Tables>, profile: { readonly id: string; readonly email: string | null }) => {
      await webhooks?.publish(tx, 'account.created', { userId: profile.id, email: profile.email });
    },
  };
}

/** Of a stored body. */
export function typeOfEvent(body: string): string {
  const event: unknown = JSON.parse(body);
  const type: unknown = typeof event === 'object' && event !== null ? Reflect.get(event, 'type') : undefined;
  return typeof type === 'string' ? type : 'unknown';
}
