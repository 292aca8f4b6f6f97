/** The webhook events of the media service (docs/specification/webhooks.md#events), each in the transaction of its change. */
import { type Tx, transaction } from '#platform/db/db.ts';
import type { AssetFacts } from '#webhooks/events.ts';
import { dropAssets, type SeenAsset } from './assets/assetstore.ts';
import type { MediaStores } from './context.ts';
import type { Finding } from './screening/incidentstore.ts';
import type { MediaTables } from './tables.ts';

const factsOf = ({ assetId, ownerId, scopeKind, scopeId, kind }: AssetFacts): AssetFacts => ({
  assetId,
  ownerId,
  scopeKind,
  scopeId,
  kind,
});

type RegisteredAsset = AssetFacts & { readonly mime: string; readonly byteSize: number };

export async function publishRegistered(
  { webhooks }: MediaStores,
  tx: Tx<MediaTables>,
  asset: RegisteredAsset,
): Promise<void> {
  const { mime, byteSize } = asset;
  await webhooks?.publish(tx, 'asset.registered', { ...factsOf(asset), mime, byteSize });
}

/** Drops rows that have not changed since they were read, and publishes the deletion of those that were readable. */
export function dropAndPublish({ db, webhooks }: MediaStores, seen: readonly SeenAsset[]) {
  return transaction(db, async (tx) => {
    const rows = await dropAssets(tx, seen);
    for (const row of rows) if (row.isReady) await webhooks?.publish(tx, 'asset.deleted', factsOf(row));
    return rows;
  });
}

/** Blocks a row (`block`), and publishes it. `false`: the row has changed, and nothing is blocked. */
export function blockAndPublish(
  { db, webhooks }: MediaStores,
  { digests: { sha256 }, match }: Finding,
  block: (tx: Tx<MediaTables>) => Promise<AssetFacts | undefined>,
): Promise<boolean> {
  return transaction(db, async (tx) => {
    const row = await block(tx);
    if (row === undefined) return false;
    const label = match.check === 'label' ? match.list : null;
    await webhooks?.publish(tx, 'asset.blocked', { ...factsOf(row), sha256, list: match.list, label });
    return true;
  });
}

/** What became of a video task. */
export type TaskEnd =
  | { readonly status: 'completed'; readonly assetIds: readonly string[] }
  | { readonly status: 'failed'; readonly error: string };

export async function publishTaskEnd(
  { webhooks }: MediaStores,
  tx: Tx<MediaTables>,
  { taskId, ownerId }: { readonly taskId: string; readonly ownerId: string },
  end: TaskEnd,
): Promise<void> {
  if (end.status === 'completed')
    await webhooks?.publish(tx, 'video_task.completed', { taskId, ownerId, assetIds: end.assetIds });
  else await webhooks?.publish(tx, 'video_task.failed', { taskId, ownerId, error: end.error });
}
