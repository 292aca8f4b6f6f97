/** The rows of media tasks. */
import { sql } from 'kysely';
import { type Db, hasChanged, inCamelCase, json, type Tx } from '#platform/db/db.ts';
import type { AssetFacts } from '../assets/assetstore.ts';
import { flagAsset } from '../screening/incidentstore.ts';
import type { Handle, MediaTables, Metadata, Playback } from '../tables.ts';
import type { TaskStatus, TaskUpsert } from './api.ts';

export type StoredTask = NonNullable<Awaited<ReturnType<typeof findTask>>>;

const taskColumns = [
  ...inCamelCase('task_id owner_id media_type status metadata run_id created_at updated_at'),
  // The transaction that wrote the row.
  sql<string>`xmin::text`.as('revision'),
] as const;

export function findTask(db: Handle, taskId: string) {
  return db.selectFrom('media_tasks').select(taskColumns).where('task_id', '=', taskId).executeTakeFirst();
}

/** The status never moves backward, and never leaves an end state (docs/specification/media.md#video-tasks). */
function later(status: TaskStatus) {
  return sql<TaskStatus>`
    case
      when media_tasks.status in ('completed', 'failed') then media_tasks.status
      when media_tasks.status = 'processing' and ${status} = 'pending' then media_tasks.status
      else ${status}
    end`;
}

function newRow(task: TaskUpsert) {
  return {
    task_id: task.taskId,
    owner_id: task.ownerId,
    media_type: task.mediaType,
    status: task.status ?? 'pending',
    metadata: json(task.metadata ?? {}),
    created_at: sql<Date>`now()`,
    updated_at: sql<Date>`now()`,
  };
}

/** The owner, the media type and the start are those of the first write. An absent status, or absent metadata, stay unchanged. */
export async function upsertTask(db: Handle, task: TaskUpsert): Promise<StoredTask> {
  const { status, metadata } = task;
  return db
    .insertInto('media_tasks')
    .values({ ...newRow(task), run_id: null, asset_id: null, storage_key: null })
    .onConflict((conflict) =>
      conflict.column('task_id').doUpdateSet({
        updated_at: sql<Date>`now()`,
        ...(status && { status: later(status) }),
        ...(metadata && { metadata: json(metadata) }),
      }),
    )
    .returning(taskColumns)
    .executeTakeFirstOrThrow();
}

export async function insertRun(
  db: Handle,
  task: TaskUpsert & Run & { readonly assetId: string; readonly storageKey: string },
): Promise<void> {
  await db
    .insertInto('media_tasks')
    .values({ ...newRow(task), run_id: task.runId, asset_id: task.assetId, storage_key: task.storageKey })
    .execute();
}

/** A task, and the job that it belongs to. */
export interface Run {
  readonly taskId: string;
  readonly runId: string;
}

/** Written by the job of the run. `metadata` is merged into the existing one. `false`: the task was deleted. */
export async function advanceRun(
  db: Handle,
  { taskId, runId }: Run,
  status: TaskStatus,
  metadata: Metadata = {},
): Promise<boolean> {
  return db
    .updateTable('media_tasks')
    .set({
      status: later(status),
      metadata: sql<Metadata>`media_tasks.metadata || ${json(metadata)}`,
      updated_at: sql<Date>`now()`,
    })
    .where((eb) => eb.and({ task_id: taskId, run_id: runId }))
    .$call(hasChanged);
}

/** Prevents other changes of the run until the transaction is over. `undefined`: its task was deleted or separated from it. */
export async function lockRun(tx: Tx<MediaTables>, { taskId, runId }: Run): Promise<TaskStatus | undefined> {
  const row = await tx
    .selectFrom('media_tasks')
    .select('status')
    .where((eb) => eb.and({ task_id: taskId, run_id: runId }))
    .forUpdate()
    .executeTakeFirst();
  return row?.status;
}

/** Only if it has not changed since it was read. `false`: it was written or deleted. */
export async function dropTask(
  db: Handle,
  { taskId, revision }: Pick<StoredTask, 'taskId' | 'revision'>,
): Promise<boolean> {
  return db
    .deleteFrom('media_tasks')
    .where('task_id', '=', taskId)
    .where(sql<boolean>`xmin::text = ${revision}`)
    .$call(hasChanged);
}

/** Returns the ids that existed. */
export async function dropTasksOf(db: Handle, ownerId: string): Promise<readonly string[]> {
  const rows = await db
    .deleteFrom('media_tasks')
    .where('owner_id', '=', ownerId)
    .returning('task_id as taskId')
    .execute();
  return rows.map(({ taskId }) => taskId);
}

/** Of a task whose job has not ended. */
const isUnfinished = sql<boolean>`run_id is not null and status in ('pending', 'processing')`;

/** Returns ids of the owner's unfinished video tasks. With an upload, only its task. */
export async function findUnfinished(
  db: Handle,
  ownerId: string,
  storageKey?: string | undefined,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('media_tasks')
    .select('task_id as taskId')
    .where('owner_id', '=', ownerId)
    .where(isUnfinished)
    .$if(storageKey !== undefined, (query) => query.where('storage_key', '=', String(storageKey)))
    .execute();
  return rows.map(({ taskId }) => taskId);
}

/**
 * Ends the owner's unfinished video tasks whose uploads start with this key, and separates tasks from their jobs, which then
 * write nothing more: an upsert may have ended a task whose job still runs. Resolves with all of them.
 */
export async function cancelRuns(
  db: Handle,
  ownerId: string,
  keyPrefix: string,
): Promise<readonly { readonly taskId: string; readonly wasUnfinished: boolean }[]> {
  const ended = json({ error: 'cancelled' });
  return (
    db
      .updateTable('media_tasks')
      .set({
        status: sql<TaskStatus>`case when ${isUnfinished} then 'failed' else status end`,
        metadata: sql<Metadata>`case when ${isUnfinished} then metadata || ${ended} else metadata end`,
        updated_at: sql<Date>`case when ${isUnfinished} then now() else updated_at end`,
        run_id: null,
      })
      .where('owner_id', '=', ownerId)
      .where('run_id', 'is not', null)
      .where(sql<boolean>`starts_with(storage_key, ${keyPrefix})`)
      // Only the end of an unfinished task has moved its time to that of this transaction.
      .returning(['task_id as taskId', sql<boolean>`updated_at = now()`.as('wasUnfinished')])
      .execute()
  );
}

/**
 * Adds the missing facts of a ready video. Does not replace an existing thumbnail. Resolves with its thumbnail.
 * `undefined`: there is no such video.
 */
export async function describeVideo(
  tx: Tx<MediaTables>,
  assetId: string,
  facts: Pick<AssetFacts, 'width' | 'height' | 'durationMs' | 'blurhash' | 'thumbAssetId'>,
): Promise<{ readonly thumbAssetId: string | null } | undefined> {
  const { rows } = await sql<{ thumbAssetId: string | null }>`
    update assets set width = coalesce(width, ${facts.width}::int), height = coalesce(height, ${facts.height}::int),
      duration_ms = coalesce(duration_ms, ${facts.durationMs}::bigint), blurhash = coalesce(blurhash, ${facts.blurhash}::text),
      thumb_asset_id = case
        when thumb_asset_id is null or exists (
          select from assets thumb where thumb.asset_id = assets.thumb_asset_id and thumb.owner_id <> assets.owner_id
        ) then coalesce(${facts.thumbAssetId}::uuid, thumb_asset_id)
        else thumb_asset_id
      end,
      labels = coalesce(labels, (select labels from assets poster where poster.asset_id = ${facts.thumbAssetId}::uuid)),
      restricted_at = coalesce(
        restricted_at, (select restricted_at from assets poster where poster.asset_id = ${facts.thumbAssetId}::uuid)
      ),
      version = version + 1
    where asset_id = ${assetId}::uuid and ready_at is not null
    returning thumb_asset_id as "thumbAssetId"`.execute(tx);
  await flagAsset(tx, assetId, undefined);
  return rows[0];
}

/** `null`: no file of it is known to play, or there is no such ready asset. */
export async function findPlayback(db: Db<MediaTables>, assetId: string): Promise<Playback | null> {
  const row = await db
    .selectFrom('assets')
    .select('playback')
    .where('asset_id', '=', assetId)
    .where('ready_at', 'is not', null)
    .executeTakeFirst();
  return row?.playback ?? null;
}

/** Does not replace what is known. */
export async function setPlayback(tx: Tx<MediaTables>, assetId: string, playback: Playback | null): Promise<void> {
  await tx
    .updateTable('assets')
    .set({ playback: sql<Playback | null>`coalesce(playback, ${playback}::text)` })
    .where('asset_id', '=', assetId)
    .execute();
}

/** Returns whether a ready asset has it as its thumbnail. */
export async function isShown(db: Db<MediaTables>, assetId: string): Promise<boolean> {
  const shower = db
    .selectFrom('assets')
    .select('asset_id')
    .where('thumb_asset_id', '=', assetId)
    .where('ready_at', 'is not', null);
  return (await shower.limit(1).executeTakeFirst()) !== undefined;
}

/** Returns the videos of these owners whose jobs are not finished. */
export async function findUnfinishedVideos(db: Handle, ownerIds: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('media_tasks')
    .select('asset_id as assetId')
    .where(sql<boolean>`owner_id = any(${ownerIds}::uuid[])`)
    .where('asset_id', 'is not', null)
    .where('status', 'in', ['pending', 'processing'])
    .execute();
  return rows.flatMap(({ assetId }) => assetId ?? []);
}
