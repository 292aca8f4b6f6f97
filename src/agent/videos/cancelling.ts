/** Cancels and removes the videos of a thread that is being deleted. What is not made yet is neither made nor paid. */
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { Tx } from '#platform/db/db.ts';
import { type FailedVideo, publishVideoFailures } from '../events.ts';
import { deleteVideosOfThread, lockVideosOfThread, type VideoTables } from '../store/videostore.ts';
import { endVideo, keyOf, type VideoDeps, videoQueue } from './videos.ts';

export type CancelDeps = Pick<VideoDeps, 'jobs' | 'userEvents' | 'webhooks'>;

export async function cancelVideosOf(
  deps: CancelDeps,
  tx: Tx<VideoTables & LedgerTables>,
  threadId: string,
): Promise<void> {
  const failed: FailedVideo[] = [];
  for (const video of await lockVideosOfThread(tx, threadId)) {
    if (video.status === 'completed' || video.status === 'failed') continue;
    const ended = await endVideo(tx, video, 'aborted', 'The thread was deleted.');
    if (ended !== undefined) failed.push(ended);
    await deps.jobs.cancel(tx, videoQueue, keyOf(video));
  }
  await publishVideoFailures(deps, tx, failed);
}

/** Also those that were queued again since `cancelVideosOf`. */
export async function removeVideosOf(
  deps: CancelDeps,
  tx: Tx<VideoTables & LedgerTables>,
  threadId: string,
): Promise<void> {
  await cancelVideosOf(deps, tx, threadId);
  await deleteVideosOfThread(tx, threadId);
}
