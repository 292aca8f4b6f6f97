/** Generations: reading, listing and canceling the orders of users and the videos of runs. */
import { z } from 'zod';
import { closeCredits, lockReserved } from '#accounts/ledger/credits.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import { type Place, readCursor, writeCursor } from '#platform/db/paging.ts';
import type { Queue } from '#platform/jobs/jobs.ts';
import { problems } from '#platform/problem.ts';
import { chargedCancels } from '../billing/usage.ts';
import { addUsage } from '../billing/usagestore.ts';
import type { AgentContext } from '../context.ts';
import { publishGeneration, publishVideoFailures } from '../events.ts';
import { assetIdOf, type SignedMedia, signAll } from '../services/library.ts';
import type { AgentTables } from '../tables.ts';
import { userEventsTopic } from '../userevents/usereventstore.ts';
import { cancelVideos } from '../videos/ending.ts';
import { findVideo, holdVideosOf, listVideosOf, lockVideos, type Video } from '../videos/videostore.ts';
import type { Generation, GenerationItem, GenerationListing, GenerationPage } from './api.ts';
import * as store from './generationstore.ts';

const images = z.object({ generationId: z.string() });

/** Orders and stores the images of a generation. Each generation of a user has its turn after those of other users. */
export const imagesQueue: Queue<z.output<typeof images>> = {
  name: 'agent/make-images',
  payload: images,
  maxAttempts: 3,
  isRoundRobin: true,
};

export const imageScopeOf = (id: string) => `generation:${id}`;
/** Also names the asset. */
export const imageReferenceOf = (id: string, index: number) => `${imageScopeOf(id)}:${index}`;

/** Processes that make images of a generation stop when its id is published. */
export const cancelTopic = 'generation-canceled';

/** `userId`: `undefined` for a server, which reads all. Throws 404 and 403. */
export async function readGeneration(deps: AgentContext, userId: string | undefined, id: string): Promise<Generation> {
  const found = await findAny(deps, id);
  if (found === undefined) throw problems.not_found({ message: 'There is no such generation.' });
  if (userId !== undefined && found.ownerId !== userId) throw problems.forbidden();
  return describeOne(deps, found);
}

type Found =
  | (NonNullable<Awaited<ReturnType<typeof store.findGeneration>>> & { readonly kind: 'image' })
  | (Video & { readonly kind: 'video'; readonly createdAtUs?: string });

async function findAny({ db }: AgentContext, id: string): Promise<Found | undefined> {
  const row = await store.findGeneration(db, id);
  if (row !== undefined) return { ...row, kind: 'image' };
  const video = await findVideo(db, id);
  return video && { ...video, kind: 'video' };
}

/** The generation of the user when it has ended. `undefined`: `signal` was aborted before. Every end is an event of the user. */
export async function waitForEnd(
  deps: AgentContext,
  { userId, id }: { readonly userId: string; readonly id: string },
  signal: AbortSignal,
): Promise<Generation | undefined> {
  let wake = Promise.withResolvers<void>();
  const wakeUp = () => wake.resolve();
  const unsubscribe = deps.pubsub.subscribe(userEventsTopic, {
    onMessage: (of) => of === userId && wakeUp(),
    onGap: wakeUp,
  });
  // Messages may be lost.
  const looking = setInterval(wakeUp, lookEveryMs);
  signal.addEventListener('abort', wakeUp);
  try {
    for (;;) {
      wake = Promise.withResolvers();
      const found = await findAny(deps, id);
      if (found !== undefined && !isRunning(found)) return await describeOne(deps, found);
      if (found === undefined || signal.aborted) return undefined;
      await wake.promise;
    }
  } finally {
    unsubscribe();
    clearInterval(looking);
    signal.removeEventListener('abort', wakeUp);
  }
}

const lookEveryMs = 2000;

const isRunning = ({ status }: Found) => status === 'running' || status === 'queued' || status === 'processing';

/** Throws 400 for a cursor that no page returned. */
export async function readGenerations(
  deps: AgentContext,
  userId: string,
  { kind, status, limit, cursor }: GenerationListing,
): Promise<GenerationPage> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const rows = kind === 'video' ? [] : await store.listGenerations(deps.db, userId, status, after, limit + 1);
  const videos = kind === 'image' ? [] : await listVideosOf(deps.db, userId, status, after, limit + 1);
  const all: Found[] = [
    ...rows.map((row) => ({ ...row, kind: 'image' as const })),
    ...videos.map((video) => ({ ...video, kind: 'video' as const })),
  ];
  const sorted = all.sort((one, other) => compare(placeOf(other), placeOf(one)));
  const page = sorted.slice(0, limit);
  const last = page.at(-1);
  return {
    generations: await describe(deps, userId, page),
    next_cursor: sorted.length > limit && last !== undefined ? writeCursor(placeOf(last)) : null,
  };
}

const placeOf = (found: Found): Place => ({
  createdAtUs: found.createdAtUs ?? '0',
  id: found.kind === 'image' ? found.id : found.videoId,
});

function compare(one: Place, other: Place): number {
  const difference = BigInt(one.createdAtUs) - BigInt(other.createdAtUs);
  if (difference !== 0n) return difference > 0n ? 1 : -1;
  return one.id > other.id ? 1 : -1;
}

async function describeOne(deps: AgentContext, found: Found): Promise<Generation> {
  const [shown] = await describe(deps, found.ownerId, [found]);
  if (shown === undefined) throw new Error('a generation was not described');
  return shown;
}

/** If the media service does not respond, the items have no URLs. */
async function describe(deps: AgentContext, userId: string, found: readonly Found[]): Promise<Generation[]> {
  const assetsOf = (one: Found) => (one.kind === 'image' ? one.items : [one]).flatMap(({ assetId }) => assetId ?? []);
  const idsOf = (kind: Found['kind']) => found.filter((one) => one.kind === kind).flatMap(assetsOf);
  const signed = await signAll(deps, userId, idsOf);
  return found.map((one) => (one.kind === 'image' ? describeImages(one, signed) : describeVideoOrder(one, signed)));
}

type Signed = ReadonlyMap<string, SignedMedia>;

function describeImages(row: Extract<Found, { kind: 'image' }>, signed: Signed): Generation {
  const { id, origin, status, model, input, price, items } = row;
  return {
    ...{ id, kind: 'image', status, origin, prompt: input.prompt, model, references: [...input.references] },
    ...(origin !== 'api' && { taskId: id }),
    credits: row.credits ?? price * items.length,
    items: items.map(({ index, status: ofItem, assetId, failure }) => ({
      ...{ index, status: ofItem, failure },
      ...describeAsset(assetId, signed),
    })),
    createdAt: row.createdAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}

function describeVideoOrder(video: Extract<Found, { kind: 'video' }>, signed: Signed): Generation {
  const { videoId: id, input, assetId, origin, taskId, failureCode, failureMessage, price } = video;
  const ended = video.status === 'completed' || video.status === 'failed';
  const status = !ended
    ? 'running'
    : video.status === 'completed'
      ? 'completed'
      : failureCode === 'aborted'
        ? 'canceled'
        : 'failed';
  const failure =
    failureCode === null
      ? null
      : { code: failureCode, message: failureMessage ?? '', retryable: failureCode.startsWith('insufficient_') };
  return {
    ...{ id, kind: 'video', status, origin, prompt: input.prompt, model: video.mediaModel ?? 'video' },
    references: [...(input.firstFrame ? [input.firstFrame] : []), ...(input.references ?? [])],
    ...(input.duration && { duration: input.duration }),
    ...(origin !== 'api' && { taskId }),
    credits: ended ? video.credits : price,
    items: [{ index: 0, status, failure, ...describeAsset(assetId, signed) }],
    createdAt: video.createdAt.toISOString(),
    endedAt: ended ? video.updatedAt.toISOString() : null,
  };
}

function describeAsset(assetId: string | null, signed: Signed): Omit<GenerationItem, 'index' | 'status' | 'failure'> {
  const { url = null, mime = null, width = null, height = null } = (assetId && signed.get(assetId)) || {};
  return { assetId, url, mime, width, height };
}

/** What is delivered stays. Does nothing if it has ended. Throws 404 and 403. */
export async function cancelGeneration(deps: AgentContext, userId: string | undefined, id: string): Promise<void> {
  const found = await findAny(deps, id);
  if (found === undefined) throw problems.not_found({ message: 'There is no such generation.' });
  const { ownerId } = found;
  if (userId !== undefined && ownerId !== userId) throw problems.forbidden();
  if (found.kind === 'video') return cancelVideo(deps, ownerId, id);
  await stopImages(deps, id, { status: 'canceled', code: 'aborted', message: 'The generation was canceled.' });
}

/** Ends a generation wherever its images are being made: the rest ends as `rest`. Does nothing if it has ended. */
export async function stopImages(deps: AgentContext, id: string, rest: EndOfRest): Promise<void> {
  await transaction(deps.db, async (tx) => {
    const row = await store.lockGeneration(tx, id);
    if (row?.status !== 'running') return;
    await endImages(deps, tx, row, rest);
    await deps.jobs.cancel(tx, imagesQueue, id);
  });
  deps.pubsub.publish(cancelTopic, id);
}

const canceledAtOnce = 100;

/** Cancels all that are running. Those that cannot be canceled are left. */
export async function cancelGenerationsOf(deps: AgentContext, userId: string): Promise<void> {
  for (let before = ''; ; ) {
    const images = await store.listGenerations(deps.db, userId, 'running', undefined, canceledAtOnce);
    const videos = await listVideosOf(deps.db, userId, 'running', undefined, canceledAtOnce);
    const ids = [...images.map(({ id }) => id), ...videos.map(({ videoId }) => videoId)];
    if (ids.length === 0 || ids.join() === before) return;
    before = ids.join();
    for (const id of ids) await cancelGeneration(deps, userId, id);
  }
}

async function cancelVideo(deps: AgentContext, ownerId: string, id: string): Promise<void> {
  await transaction(deps.db, async (tx) => {
    await holdVideosOf(tx, ownerId);
    const videos = (await lockVideos(tx, id)).filter(({ videoId }) => videoId === id);
    await publishVideoFailures(deps, tx, await cancelVideos(deps, tx, videos, 'The video was canceled.'));
  });
}

interface EndOfRest {
  readonly status: 'failed' | 'canceled';
  readonly code: string;
  readonly message: string;
}

/**
 * Ends a generation that is running: what is charged was delivered, the rest ends as `rest` and is free, except for canceled orders
 * beyond AGENT_FREE_CANCELS_PER_DAY. The caller has locked the row.
 */
export async function endImages(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  row: store.StoredGeneration,
  rest: EndOfRest,
): Promise<void> {
  const { id, ownerId, origin, scopeId, model } = row;
  const scope = imageScopeOf(id);
  const { items = [] } = (await store.findGeneration(tx, id)) ?? {};
  const isReached = rest.status === 'canceled' && row.orderedAt !== null;
  const charged = await chargedCancels(deps, tx, ownerId, isReached ? await lockReserved(tx, scope) : []);
  const settlement = await closeCredits(tx, scope, charged);
  const settled = new Set(settlement?.settled.map(({ reference }) => reference));
  for (const reference of charged) settled.delete(reference);
  const failure = { code: rest.code, message: rest.message, retryable: rest.status === 'failed' };
  const ended = items.map((item) => {
    if (item.status !== 'running') return item;
    const reference = imageReferenceOf(id, item.index);
    return settled.has(reference)
      ? { ...item, status: 'completed' as const, assetId: assetIdOf(reference) }
      : { ...item, status: rest.status, failure };
  });
  const delivered = ended.flatMap(({ index, status }) => (status === 'completed' ? imageReferenceOf(id, index) : []));
  const credits = (settlement?.settled ?? []).reduce((sum, { amount }) => sum + amount, 0);
  const status = delivered.length > 0 ? 'completed' : rest.status;
  const images = await store.takeImages(tx, scope);
  const costUsd = store.costOf(images.filter(({ reference }) => delivered.includes(reference)));
  await store.endGeneration(tx, id, status, credits, ended);
  if (credits > 0 || delivered.length > 0)
    await addUsage(tx, { userId: ownerId, model, images: delivered.length, credits, costUsd });
  const assetIds = delivered.map(assetIdOf);
  await publishGeneration(deps, tx, { id, ownerId, origin, scopeId, kind: 'image', status, settlement, assetIds });
}
