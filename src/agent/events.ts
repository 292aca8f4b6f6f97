/** The webhook events of the agent (docs/specification/webhooks.md#events), each in the transaction of its change. */
import type { UIMessage } from 'ai';
import type { Tx } from '#platform/db/db.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { Run } from './store/runstore.ts';
import type { Video } from './store/videostore.ts';

/** Publishes `run.ended`, and `media.completed` or `media.failed` for each image that the run made. */
export async function publishRunEnd<Tables>(
  webhooks: Webhooks | undefined,
  tx: Tx<Tables>,
  run: Run,
  end: { readonly status: string; readonly parts: UIMessage['parts'] },
): Promise<void> {
  if (webhooks === undefined) return;
  const facts = { taskId: run.taskId, threadId: run.threadId, userId: run.ownerId };
  for (const part of end.parts) {
    if (part.type !== 'tool-generateImage' && part.type !== 'tool-editImage') continue;
    const assetId = part.state === 'output-available' ? assetIdOf(part.output) : undefined;
    if (assetId !== undefined) await webhooks.publish(tx, 'media.completed', { ...facts, assetId, kind: 'image' });
    else if (part.state === 'output-error')
      await webhooks.publish(tx, 'media.failed', { ...facts, kind: 'image', error: part.errorText });
  }
  await webhooks.publish(tx, 'run.ended', { ...facts, status: end.status });
}

/** Publishes `media.completed`. */
export async function publishVideo<Tables>(
  webhooks: Webhooks | undefined,
  tx: Tx<Tables>,
  { taskId, threadId, ownerId: userId }: Video,
  assetId: string,
): Promise<void> {
  await webhooks?.publish(tx, 'media.completed', { taskId, threadId, userId, assetId, kind: 'video' });
}

/** Publishes `media.failed`. */
export async function publishVideoFailure<Tables>(
  webhooks: Webhooks | undefined,
  tx: Tx<Tables>,
  { taskId, threadId, ownerId: userId }: Video,
  error: string,
): Promise<void> {
  await webhooks?.publish(tx, 'media.failed', { taskId, threadId, userId, kind: 'video', error });
}

function assetIdOf(output: unknown): string | undefined {
  if (typeof output !== 'object' || output === null || Reflect.get(output, 'status') !== 'completed') return undefined;
  const assetId: unknown = Reflect.get(output, 'assetId');
  return typeof assetId === 'string' ? assetId : undefined;
}
