/**
 * Cancels videos that are not made yet: because their run was stopped, their message dropped or their thread deleted, or because
 * the user cancels the task. An order that has reached its provider is canceled there too, and is free as often as
 * AGENT_FREE_CANCELS_PER_DAY allows.
 */
import type { UIMessage } from 'ai';
import { type Tx, transaction } from '#platform/db/db.ts';
import { chargedCancels } from '../billing/bounds.ts';
import { videoReference } from '../billing/references.ts';
import { addUsage } from '../billing/usagestore.ts';
import type { AgentContext } from '../context.ts';
import { type FailedVideo, publishVideoFailures } from '../events.ts';
import type { Run } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';
import { failVideo } from './ending.ts';
import { cancelQueue, deliveryQueue, keyOf, startVideos, videoQueue } from './queues.ts';
import { describeVideo } from './videos.ts';
import { deleteVideosOfThread, holdVideosOf, lockVideos, lockVideosOfThread, type Video } from './videostore.ts';

/** Those that are not over. The caller holds the videos of the user, has locked these, and publishes the failures. */
export async function cancelVideos(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  videos: readonly Video[],
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
  await holdVideosOf(tx, ownerId);
  const videos = await lockVideos(tx, taskId);
  if (status === 'failed') {
    const isShown = ({ videoId }: Video) => parts.some((part) => part.type === 'data-video' && part.id === videoId);
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
    await holdVideosOf(tx, ownerId);
    const canceled = await cancelVideos(deps, tx, await lockVideos(tx, taskId), 'The video was canceled.');
    await publishVideoFailures(deps, tx, canceled);
  });
}

export async function cancelVideosOfThread(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  { threadId, ownerId }: { readonly threadId: string; readonly ownerId: string },
): Promise<void> {
  await holdVideosOf(tx, ownerId);
  const videos = await lockVideosOfThread(tx, threadId);
  await publishVideoFailures(deps, tx, await cancelVideos(deps, tx, videos, 'The thread was deleted.'));
}

/** Also those that were queued again since `cancelVideosOfThread`. */
export async function removeVideosOfThread(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  thread: { readonly threadId: string; readonly ownerId: string },
): Promise<void> {
  await cancelVideosOfThread(deps, tx, thread);
  await deleteVideosOfThread(tx, thread.threadId);
}
