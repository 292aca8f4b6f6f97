/** `npm run webhook-test [-- <event type>]`: sends one signed example event to WEBHOOK_URL. Exit code 1 unless it is accepted. */
import { randomUUID } from 'node:crypto';
import { readConfig } from '#app/config.ts';
import { systemClock as clock } from '#platform/clock.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { withDeadline } from '#platform/resilience.ts';
import { guardReceiver, post } from '#webhooks/delivering.ts';
import { type WebhookEvents, webhookEventTypes } from '#webhooks/events.ts';
import { bodyOf } from '#webhooks/publishing.ts';
import { usageOf } from './usage.ts';

export async function webhookTest(args: readonly string[]): Promise<number> {
  const [name = 'run.ended'] = args;
  const type = webhookEventTypes.find((known) => known === name);
  if (type === undefined || args.length > 1)
    throw new StartFault(`${usageOf('webhook-test')}. Event types: ${webhookEventTypes.join(', ')}.`);
  const { webhooks, process: settings } = readConfig(process.env, []);
  if (webhooks.url === undefined) throw new StartFault('WEBHOOK_URL is not set.');
  const { url, secrets } = webhooks;
  const guard = await guardReceiver(url, settings.production);
  const id = `msg_${randomUUID()}`;
  const body = bodyOf(type, examples[type], clock.now());
  try {
    await withDeadline(15_000, (signal) => post({ url, secrets, guard, clock }, { id, body }, signal));
  } catch (error) {
    console.error(`${type} ${id} was not accepted: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
  console.log(`${type} ${id} was accepted by ${new URL(url).origin}${new URL(url).pathname}`);
  return 0;
}

const run = {
  taskId: '00000000-0000-4000-8000-000000000001',
  threadId: 'thread-1',
  userId: '00000000-0000-4000-8000-000000000002',
};

const asset = {
  assetId: '00000000-0000-4000-8000-000000000003',
  ownerId: run.userId,
  scopeKind: 'thread',
  scopeId: run.threadId,
  kind: 'image',
};
const task = { taskId: '00000000-0000-4000-8000-000000000004', ownerId: run.userId };
const mail = {
  emailId: '00000000-0000-4000-8000-000000000005',
  to: ['ada@example.com'],
  reason: 'The mailbox does not exist.',
  suppressed: ['ada@example.com'],
};

const generation = {
  generationId: '00000000-0000-4000-8000-000000000006',
  userId: run.userId,
  kind: 'image',
} as const;

const examples: WebhookEvents = {
  'run.ended': { ...run, status: 'completed' },
  'approval.requested': {
    ...run,
    approvalId: '00000000-0000-4000-8000-000000000006',
    toolCallId: 'call_1',
    toolName: 'generateVideo',
    credits: 40,
  },
  'media.completed': { ...run, assetId: '00000000-0000-4000-8000-000000000003', kind: 'image' },
  'media.failed': { ...run, kind: 'video', error: null },
  'generation.completed': generation,
  'generation.failed': { ...generation, status: 'failed' },
  'account.created': { userId: run.userId, email: 'ada@example.com' },
  'account.deleted': { userId: run.userId },
  'asset.registered': { ...asset, mime: 'image/png', byteSize: 12_345 },
  'asset.deleted': asset,
  'asset.blocked': { ...asset, sha256: '0'.repeat(64), list: 'example', label: null },
  'video_task.completed': { ...task, assetIds: [asset.assetId] },
  'video_task.failed': { ...task, error: 'processing_failed' },
  'budget.reached': { period: 'day', start: '2026-01-31', percent: 80, budgetUsd: 25, spentUsd: 20.4 },
  'mail.bounced': mail,
  'mail.complained': { ...mail, reason: null },
};
