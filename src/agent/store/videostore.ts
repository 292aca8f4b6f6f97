/** The rows of videos: the truth about them, also after their run is forgotten. */
import { type Generated, type JSONColumnType, sql } from 'kysely';
import { type Db, json, type Tx } from '#platform/db/db.ts';
import type { Ratio } from '../providers/generators.ts';
import type { RunTables } from './runstore.ts';

export interface VideoInput {
  readonly prompt: string;
  readonly ratio: Ratio;
}

export interface VideoTables {
  agent_videos: {
    video_id: string;
    resource_id: string;
    thread_id: string;
    task_id: string;
    message_id: string;
    tool_call_id: string;
    input: JSONColumnType<VideoInput>;
    status: 'queued' | 'processing' | 'completed' | 'failed';
    failure_code: string | null;
    failure_message: string | null;
    attempt: Generated<number>;
    provider_id: string | null;
    asset_id: string | null;
    thumb_asset_id: string | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
    model: Generated<string>;
  };
}

type Handle = Db<VideoTables> | Tx<VideoTables>;

const now = sql<Date>`now()`;

const columns = [
  'video_id as videoId',
  'resource_id as ownerId',
  'thread_id as threadId',
  'task_id as taskId',
  'tool_call_id as toolCallId',
  'input',
  'status',
  'failure_code as failureCode',
  'failure_message as failureMessage',
  'attempt',
  'provider_id as providerId',
  'asset_id as assetId',
  'thumb_asset_id as thumbAssetId',
  'model',
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
  readonly failure: { readonly code: string; readonly message: string } | undefined;
}

export function insertVideo(tx: Tx<VideoTables>, video: NewVideo) {
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
      input: sql`${json(video.input)}`,
      status: video.failure === undefined ? 'queued' : 'failed',
      failure_code: video.failure?.code ?? null,
      failure_message: video.failure?.message ?? null,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

export function findVideo(db: Handle, videoId: string) {
  return db.selectFrom('agent_videos').select(columns).where('video_id', '=', videoId).executeTakeFirst();
}

export function listVideosOfThread(db: Handle, threadId: string) {
  return db.selectFrom('agent_videos').select(columns).where('thread_id', '=', threadId).execute();
}

/** Locks the videos of a run, or the one video that `taskId` identifies. The oldest is first. */
export function lockVideos(tx: Tx<VideoTables>, taskId: string) {
  return tx
    .selectFrom('agent_videos')
    .select(columns)
    .where((eb) => eb.or([eb('task_id', '=', taskId), eb('video_id', '=', taskId)]))
    .orderBy('created_at')
    .orderBy('video_id')
    .forUpdate()
    .execute();
}

/** As `lockVideos`, of all runs of a thread, or of those whose answers have this number or a higher one. */
export function lockVideosOfThread(tx: Tx<VideoTables & RunTables>, threadId: string, fromSeq?: number) {
  return tx
    .selectFrom('agent_videos')
    .select(columns)
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
    .orderBy('created_at')
    .orderBy('video_id')
    .forUpdate()
    .execute();
}

export async function deleteVideosOfThread(tx: Tx<VideoTables>, threadId: string): Promise<void> {
  await tx.deleteFrom('agent_videos').where('thread_id', '=', threadId).execute();
}

/** Back in the queue, as another attempt. */
export async function requeueVideo(tx: Tx<VideoTables>, videoId: string): Promise<void> {
  await tx
    .updateTable('agent_videos')
    .set((eb) => ({
      status: 'queued',
      failure_code: null,
      failure_message: null,
      provider_id: null,
      attempt: eb('attempt', '+', 1),
      updated_at: now,
    }))
    .where('video_id', '=', videoId)
    .where('status', '=', 'failed')
    .execute();
}

interface Change {
  readonly status?: 'processing' | 'completed' | 'failed';
  readonly failure_code?: string;
  readonly failure_message?: string;
  readonly provider_id?: string;
  readonly asset_id?: string;
  readonly thumb_asset_id?: string | null;
}

/** Of this attempt, as long as it is not over. `false`: it is. */
export async function changeVideo(
  db: Handle,
  { videoId, attempt }: { readonly videoId: string; readonly attempt: number },
  change: Change,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('agent_videos')
    .set({ ...change, updated_at: now })
    .where('video_id', '=', videoId)
    .where('attempt', '=', attempt)
    .where('status', 'in', ['queued', 'processing'])
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
