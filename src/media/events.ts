/** The webhook events of the media service (docs/specification/webhooks.md#events), each in the transaction of its change. */
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import type { AssetFacts } from '#webhooks/events.ts';
import type { MediaStores } from './context.ts';
import type { Match } from './screening/screening.ts';

const factsOf = ({ assetId, ownerId, scopeKind, scopeId, kind }: AssetFacts): AssetFacts => ({
  assetId,
  ownerId,
  scopeKind,
  scopeId,
  kind,
});

type RegisteredAsset = AssetFacts & { readonly mime: string; readonly byteSize: number };

export async function publishRegistered<Tables>(
  { webhooks }: MediaStores,
  tx: Tx<Tables>,
  asset: RegisteredAsset,
): Promise<void> {
  const { mime, byteSize } = asset;
  await webhooks?.publish(tx, 'asset.registered', { ...factsOf(asset), mime, byteSize });
}

/** Drops rows (`drop`), and publishes the deletion of those that were readable. */
export async function dropAndPublish<Tables, Row extends AssetFacts & { readonly isReady: boolean }>(
  { db, webhooks }: MediaStores & { readonly db: Db<Tables> },
  drop: (tx: Tx<Tables>) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  return transaction(db, async (tx) => {
    const rows = await drop(tx);
    for (const row of rows) if (row.isReady) await webhooks?.publish(tx, 'asset.deleted', factsOf(row));
    return rows;
  });
}

/** Blocks a row (`block`), and publishes it. `false`: the row has changed, and nothing is blocked. */
export async function blockAndPublish<Tables>(
  { db, webhooks }: MediaStores & { readonly db: Db<Tables> },
  { digests, match }: { readonly digests: { readonly sha256: string }; readonly match: Pick<Match, 'check' | 'list'> },
  block: (tx: Tx<Tables>) => Promise<AssetFacts | undefined>,
): Promise<boolean> {
  return transaction(db, async (tx) => {
    const row = await block(tx);
    if (row === undefined) return false;
    const { sha256 } = digests;
    const label = match.check === 'label' ? match.list : null;
    await webhooks?.publish(tx, 'asset.blocked', { ...factsOf(row), sha256, list: match.list, label });
    return true;
  });
}

/** What became of a video task. */
export type TaskEnd =
  | { readonly status: 'completed'; readonly assetIds: readonly string[] }
  | { readonly status: 'failed'; readonly error: string };

export async function publishTaskEnd<Tables>(
  { webhooks }: MediaStores,
  tx: Tx<Tables>,
  { taskId, ownerId }: { readonly taskId: string; readonly ownerId: string },
  end: TaskEnd,
): Promise<void> {
  if (end.status === 'completed')
    await webhooks?.publish(tx, 'video_task.completed', { taskId, ownerId, assetIds: end.assetIds });
  else await webhooks?.publish(tx, 'video_task.failed', { taskId, ownerId, error: end.error });
}
