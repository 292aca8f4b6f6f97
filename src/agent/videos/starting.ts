/** Which videos of a user are ordered: at most AGENT_MAX_VIDEOS_PER_USER at a time, the oldest first. The others wait, paid for. */
import type { Tx } from '#platform/db/db.ts';
import type { AgentContext } from '../context.ts';
import { startWaiting } from '../store/videostore.ts';
import type { AgentTables } from '../tables.ts';
import { keyOf, videoQueue } from './queues.ts';

/**
 * Gives jobs to as many waiting videos of the user as there is room for. Part of every transaction in which a video begins to wait
 * or ends; that has called `holdVideosOf` before it locked anything else of videos or credits.
 */
export async function startVideos(
  { jobs, maxVideosPerUser }: AgentContext,
  tx: Tx<AgentTables>,
  ownerId: string,
): Promise<void> {
  for (const attempt of await startWaiting(tx, ownerId, maxVideosPerUser))
    await jobs.enqueue(tx, videoQueue, attempt, { key: keyOf(attempt), lane: ownerId });
}
