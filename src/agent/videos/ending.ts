/** The ends of a video, each in one transaction with its charge, its usage and its events. The caller holds the videos of the user. */
import { closeCredits, isSettled, lockReserved } from '#accounts/ledger/credits.ts';
import type { Tx } from '#platform/db/db.ts';
import { videoAssetId, videoReference, videoScope } from '../billing/references.ts';
import { addUsage } from '../billing/usagestore.ts';
import type { AgentContext } from '../context.ts';
import { type FailedVideo, publishVideo } from '../events.ts';
import type { AgentTables } from '../tables.ts';
import { changeVideo, findVideo, type Video } from './videostore.ts';

/** The asset is readable, and its credits were charged with that. Does nothing if the video is over. */
export async function completeVideo(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  video: Video,
  thumbAssetId: string | null,
): Promise<void> {
  const assetId = videoAssetId(video.videoId);
  const completed = { status: 'completed', asset_id: assetId, thumb_asset_id: thumbAssetId } as const;
  if (!(await changeVideo(tx, video, completed))) return;
  const settlement = await closeCredits(tx, videoScope(video.videoId), [videoReference(video)]);
  const credits = costOf(settlement);
  await changeVideo(tx, video, { credits }, ['completed']);
  // A fallback may have made it.
  const costUsd = (await findVideo(tx, video.videoId))?.costUsd ?? 0;
  await addUsage(tx, { userId: video.ownerId, model: video.model, videos: 1, credits, costUsd });
  await publishVideo(deps, tx, video, assetId, settlement);
}

/**
 * Fails a video that is not over, and returns its credits unless `charges` returns its reference. A video whose asset is readable is
 * completed instead. `undefined`: it did not fail. The caller adds what it cost to the usage and publishes the failure, after
 * everything else.
 */
export async function failVideo(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  video: Video,
  { code, message, answer }: { readonly code: string; readonly message: string; readonly answer?: string | undefined },
  charges: () => Promise<readonly string[]> = async () => [],
): Promise<FailedVideo | undefined> {
  const reference = videoReference(video);
  const open = await lockReserved(tx, videoScope(video.videoId));
  if (!open.includes(reference) && (await isSettled(tx, reference))) {
    await completeVideo(deps, tx, video, null);
    return undefined;
  }
  const failed = {
    status: 'failed',
    failure_code: code,
    failure_message: message.slice(0, 500),
    answer: answer ?? null,
  } as const;
  if (!(await changeVideo(tx, video, failed))) return undefined;
  const settlement = await closeCredits(tx, videoScope(video.videoId), await charges());
  await changeVideo(tx, video, { credits: costOf(settlement) }, ['failed']);
  const ended = await findVideo(tx, video.videoId);
  return ended && { video: ended, error: failed.failure_message, settlement };
}

const costOf = (settlement: Awaited<ReturnType<typeof closeCredits>>) =>
  (settlement?.settled ?? []).reduce((sum, { amount }) => sum + amount, 0);
