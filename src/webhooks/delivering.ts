/** Delivers events to the receiver (docs/specification/webhooks.md#delivery), from the start of a process on. */

import type { Readable } from 'node:stream';
import { request } from 'undici';
import type { Clock } from '#platform/clock.ts';
import { readAtMost } from '#platform/http/bodies.ts';
import { connectOnlyTo, createGuard, ForbiddenUrl, type Guard } from '#platform/http/hostguard.ts';
import { type Job, type Jobs, UnrecoverableError } from '#platform/jobs/jobs.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { withDeadline } from '#platform/resilience.ts';
import { userAgent } from '#platform/version.ts';
import { signMessage, type WebhookSettings } from './config.ts';
import { createPublisher, type Delivery, deliveryQueue, noWebhooks, type Webhooks } from './publishing.ts';

interface DeliveringOptions {
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
    const { statusCode, body: answer } = await request(url, {
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
    if (statusCode < 200 || statusCode > 299)
      throw new Error([`the receiver returned ${statusCode}`, await firstWordsOf(answer)].filter(Boolean).join(': '));
  } finally {
    // The status alone counts. The rest of the response is not read.
    await dispatcher.destroy();
  }
}

/** The beginning of a response, as one line of text for operators. Empty if the response is long or breaks off. */
async function firstWordsOf(answer: Readable): Promise<string> {
  const bytes = await readAtMost(answer, 65_536, () => new Error('too long')).catch(() => '');
  return bytes
    .toString()
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, 300);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Starts webhooks in a process: checks the receiver's address, and works on the delivery queue.

interface OpenWebhooksOptions {
  readonly settings: WebhookSettings;
  readonly jobs: () => Promise<Jobs>;
  readonly clock: Clock;
  readonly production: boolean;
}

const deliveriesAtOnce = 4;

export async function openWebhooks({ settings, jobs, clock, production }: OpenWebhooksOptions): Promise<Webhooks> {
  const { url, secrets, events: types } = settings;
  if (url === undefined) return noWebhooks;
  const guard = await guardReceiver(url, production);
  const queue = await jobs();
  queue.work(deliveryQueue, createDelivery({ url, secrets, guard, clock }), { concurrency: deliveriesAtOnce });
  return createPublisher({ jobs: queue, clock, types });
}

/** Publishes without delivering, for commands: a service delivers. */
export async function openPublisher({
  settings: { url, events: types },
  jobs,
  clock,
}: Omit<OpenWebhooksOptions, 'production'>): Promise<Webhooks | undefined> {
  return url === undefined ? undefined : createPublisher({ jobs: await jobs(), clock, types });
}

/** Outside production any address is allowed. Throws StartFault in production when the receiver's address is private. */
export async function guardReceiver(url: string, production: boolean): Promise<Guard> {
  const { host, hostname } = new URL(url);
  const guard = createGuard({ allowedHosts: production ? [] : [host, hostname] });
  await guard(new URL(url)).catch((error: unknown) => {
    // A name that does not resolve now may resolve later: every delivery checks it again.
    if (error instanceof ForbiddenUrl) throw new StartFault(`WEBHOOK_URL must be public: ${error.message}.`);
  });
  return guard;
}
