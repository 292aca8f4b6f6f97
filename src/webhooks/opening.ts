/** Starts webhooks in a process: checks the receiver's address, and works on the delivery queue. */
import type { Clock } from '#platform/clock.ts';
import { createGuard, ForbiddenUrl, type Guard } from '#platform/http/hostguard.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { StartFault } from '#platform/lifecycle.ts';
import type { WebhookSettings } from './config.ts';
import { createDelivery } from './delivering.ts';
import { createPublisher, deliveryQueue, noWebhooks, type Webhooks } from './publishing.ts';

export interface OpenWebhooksOptions {
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
