/** The rows of videos: the truth about them, also after their run is forgotten. */
import { sql, type Updateable } from 'kysely';
import { type Db, hasChanged, holdName, inCamelCase, json, type Tx } from '#platform/db/db.ts';
import { createdAtUs, isBelow, type Place } from '#platform/db/paging.ts';
import { currentTrace } from '../runs/runstore.ts';
import type { AgentTables, VideoInput, VideoOrigin } from '../tables.ts';

type Handle = Db<AgentTables> | Tx<AgentTables>;

const now = sql<Date>`now()`;

const columns = [
  'video_id as videoId',
  'resource_id as ownerId',
  ...inCamelCase(
    'thread_id task_id tool_call_id input status failure_code failure_message attempt provider_id',
    'asset_id thumb_asset_id model credits media_model origin price cost_usd scope_kind scope_id',
    'created_at updated_at',
  ),
  sql<boolean>`ordered_at is not null or provider_id is not null`.as('isOrdered'),
  /** Since the order. */
  sql<number>`coalesce(extract(epoch from clock_timestamp() - ordered_at) * 1000, 0)::float8`.as('waitedMs'),
] as const;

export type Video = NonNullable<Awaited<ReturnType<typeof findVideo>>>;

export interface NewVideo {
  readonly videoId: string;
  readonly ownerId: string;
  readonly threadId: string;
  readonly taskId: string;
  readonly messageId: string;
  readonly toolCallId: string;
  /** Of the run that ordered it. */
  readonly model: string;
  readonly input: VideoInput;
  /** Of the catalogue. */
  readonly mediaModel: string;
  readonly origin: VideoOrigin;
  readonly price: number;
  readonly costUsd?: number | undefined;
  /** By default, that of the thread. */
  readonly scope?: { readonly kind: string; readonly id: string };
  readonly failure: { readonly code: string; readonly message: string } | undefined;
}

export function insertVideo(tx: Tx<AgentTables>, video: NewVideo) {
  return tx
    .insertInto('agent_videos')
    .values({
      video_id: video.videoId,
      resource_id: video.ownerId,
      thread_id: video.threadId,
      task_id: video.taskId,
      message_id: video.messageId,
      tool_call_id: video.toolCallId,
      model: video.model,
      media_model: video.mediaModel,
      origin: video.origin,
      price: video.price,
      cost_usd: video.costUsd ?? null,
      scope_kind: video.scope?.kind ?? null,
      scope_id: video.scope?.id ?? null,
      input: sql`${json(video.input)}`,
      trace: currentTrace(),
      status: video.failure === undefined ? 'queued' : 'failed',
      failure_code: video.failure?.code ?? null,
      failure_message: video.failure?.message ?? null,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/**
 * Puts the transactions in order that start, end or cancel videos of a user. They call it before they lock videos or credits, so
 * that they do not deadlock.
 */
export function holdVideosOf(tx: Tx<AgentTables>, ownerId: string): Promise<void> {
  return holdName(tx, `agent videos ${ownerId}`);
}

/** Starts waiting videos of the user, the oldest first, until `max` are started and not over. Returns them. */
export async function startWaiting(
  tx: Tx<AgentTables>,
  ownerId: string,
  max: number,
): Promise<readonly { readonly videoId: string; readonly attempt: number }[]> {
  const { rows } = await sql<{ videoId: string; attempt: number }>`
    with waiting as materialized (
      select video_id from agent_videos
      where resource_id = ${ownerId} and status = 'queued' and started_at is null
      order by created_at, video_id
      limit greatest(0, ${max} - (
        select count(*) from agent_videos
        where resource_id = ${ownerId} and status in ('queued', 'processing') and started_at is not null
      ))
    )
    update agent_videos set started_at = clock_timestamp(), updated_at = now()
    from waiting where agent_videos.video_id = waiting.video_id
    returning agent_videos.video_id as "videoId", agent_videos.attempt`.execute(tx);
  return rows;
}

/** Notes that the order is being sent. `false`: it was sent before, or the attempt is over. */
export async function markOrdered(
  db: Handle,
  { videoId, attempt }: { readonly videoId: string; readonly attempt: number },
): Promise<boolean> {
  return db
    .updateTable('agent_videos')
    .set({ status: 'processing', ordered_at: sql<Date>`clock_timestamp()`, updated_at: now })
    .where((eb) => eb.and({ video_id: videoId, attempt, status: 'queued' }))
    .where('ordered_at', 'is', null)
    .$call(hasChanged);
}

export async function listVideoIds(tx: Tx<AgentTables>, taskId: string): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom('agent_videos')
    .select('video_id as videoId')
    .where('task_id', '=', taskId)
    .execute();
  return rows.map(({ videoId }) => videoId);
}

const selectVideos = (db: Handle) => db.selectFrom('agent_videos').select(columns);

export const findVideo = (db: Handle, videoId: string) =>
  selectVideos(db).where('video_id', '=', videoId).executeTakeFirst();

export const findVideoOfCall = (db: Handle, taskId: string, toolCallId: string) =>
  selectVideos(db)
    .where((eb) => eb.and({ task_id: taskId, tool_call_id: toolCallId }))
    .executeTakeFirst();

export const listVideosOfThread = (db: Handle, threadId: string) =>
  selectVideos(db).where('thread_id', '=', threadId).execute();

const selectLocked = (tx: Tx<AgentTables>) => selectVideos(tx).orderBy('created_at').orderBy('video_id').forUpdate();

/** Locks the videos of a run, or the one video that `taskId` identifies. The oldest is first. */
export const lockVideos = (tx: Tx<AgentTables>, taskId: string) =>
  selectLocked(tx)
    .where((eb) => eb.or([eb('task_id', '=', taskId), eb('video_id', '=', taskId)]))
    .execute();

/** As `lockVideos`, of all runs of a thread, or of those whose answers have this number or a higher one. */
export const lockVideosOfThread = (tx: Tx<AgentTables>, threadId: string, fromSeq?: number) =>
  selectLocked(tx)
    .where('thread_id', '=', threadId)
    .$if(fromSeq !== undefined, (query) =>
      query.where('message_id', 'in', (eb) =>
        eb
          .selectFrom('agent_messages')
          .select('id')
          .where('thread_id', '=', threadId)
          .where('seq', '>=', Number(fromSeq)),
      ),
    )
    .execute();

export async function deleteVideosOfThread(tx: Tx<AgentTables>, threadId: string): Promise<void> {
  await tx.deleteFrom('agent_videos').where('thread_id', '=', threadId).execute();
}

/** Waits again, as another attempt. */
export async function requeueVideo(tx: Tx<AgentTables>, videoId: string): Promise<void> {
  await tx
    .updateTable('agent_videos')
    .set((eb) => ({
      status: 'queued',
      failure_code: null,
      failure_message: null,
      answer: null,
      provider_id: null,
      started_at: null,
      ordered_at: null,
      attempt: eb('attempt', '+', 1),
      updated_at: now,
    }))
    .where((eb) => eb.and({ video_id: videoId, status: 'failed' }))
    .execute();
}

type Change = Omit<Updateable<AgentTables['agent_videos']>, 'video_id' | 'attempt' | 'updated_at'>;

/** Of this attempt, as long as it is not over, or has one of the statuses. `false`: it has none. */
export async function changeVideo(
  db: Handle,
  { videoId, attempt }: { readonly videoId: string; readonly attempt: number },
  change: Change,
  statuses: readonly AgentTables['agent_videos']['status'][] = ['queued', 'processing'],
): Promise<boolean> {
  return db
    .updateTable('agent_videos')
    .set({ ...change, updated_at: now })
    .where((eb) => eb.and({ video_id: videoId, attempt }))
    .where('status', 'in', statuses)
    .$call(hasChanged);
}

/** Videos of a user after `after`, newest first. `statuses`: of generations. */
export function listVideosOf(
  db: Handle,
  ownerId: string,
  status: 'running' | 'completed' | 'failed' | 'canceled' | undefined,
  after: Place | undefined,
  limit: number,
) {
  return selectVideos(db)
    .select(createdAtUs)
    .where('resource_id', '=', ownerId)
    .$if(status !== undefined, (query) => query.where(isOfStatus[status ?? 'running']))
    .where(isBelow('video_id', after))
    .orderBy('created_at', 'desc')
    .orderBy('video_id', 'desc')
    .limit(limit)
    .execute();
}

const isOfStatus = {
  running: sql<boolean>`status in ('queued', 'processing')`,
  completed: sql<boolean>`status = 'completed'`,
  failed: sql<boolean>`status = 'failed' and failure_code is distinct from 'aborted'`,
  canceled: sql<boolean>`status = 'failed' and failure_code = 'aborted'`,
} as const;
