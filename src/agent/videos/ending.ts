/** The ends of a video, each in one transaction with its charge, its usage and its events. The caller holds the videos of the user. */

import type { UIMessage } from 'ai';
import { closeCredits, isSettled, lockReserved } from '#accounts/ledger/credits.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import { chargedCancels, videoAssetId, videoReference, videoScope } from '../billing/usage.ts';
import { addUsage } from '../billing/usagestore.ts';
import type { AgentContext } from '../context.ts';
import { type FailedVideo, publishVideo, publishVideoFailures } from '../events.ts';
import type { Run } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';
import { cancelQueue, deliveryQueue, describeVideo, keyOf, startVideos, videoQueue } from './videos.ts';
import * as store from './videostore.ts';

/** The asset is readable, and its credits were charged with that. Does nothing if the video is over. */
export async function completeVideo(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  video: store.Video,
  thumbAssetId: string | null,
): Promise<void> {
  const assetId = videoAssetId(video.videoId);
  const completed = { status: 'completed', asset_id: assetId, thumb_asset_id: thumbAssetId } as const;
  if (!(await store.changeVideo(tx, video, completed))) return;
  const settlement = await closeCredits(tx, videoScope(video.videoId), [videoReference(video)]);
  const credits = costOf(settlement);
  await store.changeVideo(tx, video, { credits }, ['completed']);
  // A fallback may have made it.
  const costUsd = (await store.findVideo(tx, video.videoId))?.costUsd ?? 0;
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
  video: store.Video,
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
  if (!(await store.changeVideo(tx, video, failed))) return undefined;
  const settlement = await closeCredits(tx, videoScope(video.videoId), await charges());
  await store.changeVideo(tx, video, { credits: costOf(settlement) }, ['failed']);
  const ended = await store.findVideo(tx, video.videoId);
  return ended && { video: ended, error: failed.failure_message, settlement };
}

const costOf = (settlement: Awaited<ReturnType<typeof closeCredits>>) =>
  (settlement?.settled ?? []).reduce((sum, { amount }) => sum + amount, 0);

// Cancels videos that are not made yet: because their run was stopped, their message dropped or their thread deleted, or because
// the user cancels the task. An order that has reached its provider is canceled there too, and is free as often as
// AGENT_FREE_CANCELS_PER_DAY allows.

/** Those that are not over. The caller holds the videos of the user, has locked these, and publishes the failures. */
export async function cancelVideos(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  videos: readonly store.Video[],
  reason: string,
): Promise<readonly FailedVideo[]> {
  const failed: FailedVideo[] = [];
  for (const video of videos) {
    if (video.status === 'completed' || video.status === 'failed') continue;
    const { ownerId, isOrdered, providerId, mediaModel } = video;
    const reached = isOrdered ? [videoReference(video)] : [];
    const ended = await failVideo(deps, tx, video, { code: 'aborted', message: reason }, () =>
      chargedCancels(deps, tx, ownerId, reached),
    );
    // It was delivered a moment before.
    if (ended === undefined) continue;
    failed.push(ended);
    for (const queue of [videoQueue, deliveryQueue]) await deps.jobs.cancel(tx, queue, keyOf(video));
    const order = { providerId: providerId ?? '', ...(mediaModel !== null && { model: mediaModel }) };
    if (providerId !== null) await deps.jobs.enqueue(tx, cancelQueue, order, { lane: ownerId });
  }
  // In one order, because other users change the same totals.
  for (const { video } of failed.toSorted((one, other) => one.video.model.localeCompare(other.video.model))) {
    const { ownerId: userId, model, credits } = video;
    if (credits > 0) await addUsage(tx, { userId, model, credits });
  }
  const [first] = videos;
  if (first !== undefined) await startVideos(deps, tx, first.ownerId);
  return failed;
}

/**
 * Cancels the videos of an aborted run that are not made yet. The videos of a failed run are made and charged, so they are
 * reported, also if the run ended before it showed their order.
 */
export async function endVideosOf(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  { taskId, ownerId }: Run,
  { status, parts }: { readonly status: Run['status']; readonly parts: UIMessage['parts'] },
): Promise<{ readonly shown: UIMessage['parts']; readonly failed: readonly FailedVideo[] }> {
  if (status === 'completed') return { shown: [], failed: [] };
  await store.holdVideosOf(tx, ownerId);
  const videos = await store.lockVideos(tx, taskId);
  if (status === 'failed') {
    const isShown = ({ videoId }: store.Video) =>
      parts.some((part) => part.type === 'data-video' && part.id === videoId);
    const shown = videos
      .filter((video) => !isShown(video))
      .map((video) => ({ type: 'data-video' as const, id: video.videoId, data: describeVideo(video) }));
    return { shown, failed: [] };
  }
  return { shown: [], failed: await cancelVideos(deps, tx, videos, 'The run was stopped.') };
}

/** Cancels what a run that has ended still has made. */
export async function cancelVideosOfTask(deps: AgentContext, { taskId, ownerId }: Run): Promise<void> {
  await transaction(deps.db, async (tx) => {
    await store.holdVideosOf(tx, ownerId);
    const canceled = await cancelVideos(deps, tx, await store.lockVideos(tx, taskId), 'The video was canceled.');
    await publishVideoFailures(deps, tx, canceled);
  });
}

export async function cancelVideosOfThread(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  { threadId, ownerId }: { readonly threadId: string; readonly ownerId: string },
): Promise<void> {
  await store.holdVideosOf(tx, ownerId);
  const videos = await store.lockVideosOfThread(tx, threadId);
  await publishVideoFailures(deps, tx, await cancelVideos(deps, tx, videos, 'The thread was deleted.'));
}

/** Also those that were queued again since `cancelVideosOfThread`. */
export async function removeVideosOfThread(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  thread: { readonly threadId: string; readonly ownerId: string },
): Promise<void> {
  await cancelVideosOfThread(deps, tx, thread);
  await store.deleteVideosOfThread(tx, thread.threadId);
}
