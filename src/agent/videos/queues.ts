/** The jobs of videos. Each video of a user has its turn after those of other users. */
import { z } from 'zod';
import type { Tx } from '#platform/db/db.ts';
import type { Queue } from '#platform/jobs/jobs.ts';
import type { AgentContext } from '../context.ts';
import type { AgentTables } from '../tables.ts';
import { startWaiting } from './videostore.ts';

const attempt = z.object({ videoId: z.string(), attempt: z.int() });
export type VideoAttempt = z.output<typeof attempt>;

const ofVideos = { payload: attempt, maxAttempts: 4, isRoundRobin: true } as const;

/** Downloads and stores a video that its provider has made. */
export const deliveryQueue: Queue<VideoAttempt> = { ...ofVideos, name: 'agent/deliver-video' };

/** Orders a video, and polls its provider. Between two calls the job waits without a worker. */
export const videoQueue: Queue<VideoAttempt> = { ...ofVideos, name: 'agent/make-video', movesTo: deliveryQueue.name };

export const keyOf = ({ videoId, attempt: number }: VideoAttempt) => `${videoId}:${number}`;

/** Without a model: ordered before there was a catalogue. */
const order = z.object({ providerId: z.string(), model: z.string().optional() });

/** Cancels an order at its provider. */
export const cancelQueue: Queue<z.output<typeof order>> = {
  name: 'agent/cancel-order',
  payload: order,
  maxAttempts: 6,
  isRoundRobin: true,
};

// Which videos of a user are ordered: at most AGENT_MAX_VIDEOS_PER_USER at a time, the oldest first. The others wait, paid for.

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
