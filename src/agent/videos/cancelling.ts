/** Cancels and removes the videos of a thread that is being deleted. What is not made yet is neither made nor paid. */
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { Tx } from '#platform/db/db.ts';
import { publishVideoFailures } from '../events.ts';
import type { RunTables } from '../store/runstore.ts';
import { deleteVideosOfThread, lockVideosOfThread, type VideoTables } from '../store/videostore.ts';
import { cancelVideos, type VideoDeps } from './videos.ts';

export type CancelDeps = Pick<VideoDeps, 'jobs' | 'userEvents' | 'webhooks'>;

export async function cancelVideosOf(
  deps: CancelDeps,
  tx: Tx<VideoTables & LedgerTables & RunTables>,
  threadId: string,
): Promise<void> {
  const videos = await lockVideosOfThread(tx, threadId);
  await publishVideoFailures(deps, tx, await cancelVideos(deps, tx, videos, 'The thread was deleted.'));
}

/** Also those that were queued again since `cancelVideosOf`. */
export async function removeVideosOf(
  deps: CancelDeps,
  tx: Tx<VideoTables & LedgerTables & RunTables>,
  threadId: string,
): Promise<void> {
  await cancelVideosOf(deps, tx, threadId);
  await deleteVideosOfThread(tx, threadId);
}
