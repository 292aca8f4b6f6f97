/** Delivers events to the receiver (docs/specification/webhooks.md#delivery). */

import { request } from 'undici';
import type { Clock } from '#platform/clock.ts';
import { connectOnlyTo, type Guard } from '#platform/http/hostguard.ts';
import { userAgent } from '#platform/http/outgoing.ts';
import { type Job, UnrecoverableError } from '#platform/jobs/jobs.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import type { Delivery } from './publishing.ts';
import { signMessage } from './signing.ts';

export interface DeliveringOptions {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly guard: Guard;
  readonly clock: Clock;
  /** For a whole attempt, name resolution included. 15 s by default. */
  readonly timeoutMs?: number;
}

const giveUpAfterMs = 24 * 60 * 60 * 1000;

/** The handler of the delivery queue. Throws when the attempt failed. */
export function createDelivery(deps: DeliveringOptions): (job: Job<Delivery>) => Promise<void> {
  return async ({ payload, signal }) => {
    try {
      await withDeadline(deps.timeoutMs ?? 15_000, (ended) => post(deps, payload, ended), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (deps.clock.now() - payload.publishedAtMs < giveUpAfterMs) throw error;
      throw new UnrecoverableError(`not delivered within 24 hours: ${reasonOf(error)}`, { cause: error });
    }
  };
}

/** Throws unless the receiver answers 2xx. Redirects are not followed. */
export async function post(
  { url, secrets, guard, clock }: DeliveringOptions,
  { id, body }: Pick<Delivery, 'id' | 'body'>,
  signal: AbortSignal,
): Promise<void> {
  const timestampS = Math.floor(clock.now() / 1000);
  const dispatcher = connectOnlyTo(await guard(new URL(url)));
  try {
    const { statusCode } = await request(url, {
      method: 'POST',
      dispatcher,
      signal,
      headers: {
        'content-type': 'application/json',
        'user-agent': userAgent,
        'webhook-id': id,
        'webhook-timestamp': String(timestampS),
        'webhook-signature': signMessage({ id, timestampS, body }, secrets),
      },
      body,
    });
    if (statusCode < 200 || statusCode > 299) throw new Error(`the receiver returned ${statusCode}`);
  } finally {
    // The response body is not read: the status alone counts.
    await dispatcher.destroy();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
