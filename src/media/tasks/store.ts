/** The rows of media tasks. */
import { sql } from 'kysely';
import { type Db, json, type Tx } from '#platform/db/db.ts';
import type { TaskStatus } from '../api.ts';

interface TasksTable {
  task_id: string;
  owner_id: string;
  media_type: string;
  status: TaskStatus;
  metadata: Metadata;
  run_id: string | null;
  asset_id: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface TaskTables {
  media_tasks: TasksTable;
}

export type Metadata = Readonly<Record<string, unknown>>;

type Handle = Db<TaskTables> | Tx<TaskTables>;

export type StoredTask = NonNullable<Awaited<ReturnType<typeof findTask>>>;

const taskColumns = [
  'task_id as taskId',
  'owner_id as ownerId',
  'media_type as mediaType',
  'status',
  'metadata',
  'run_id as runId',
  'created_at as createdAt',
  'updated_at as updatedAt',
  // The transaction that wrote the row.
  sql<string>`xmin::text`.as('revision'),
] as const;

export function findTask(db: Handle, taskId: string) {
  return db.selectFrom('media_tasks').select(taskColumns).where('task_id', '=', taskId).executeTakeFirst();
}

export interface TaskWrite {
  readonly taskId: string;
  readonly ownerId: string;
  readonly mediaType: string;
  /** `undefined`: as it is; of a new row `pending`. */
  readonly status: TaskStatus | undefined;
  /** `undefined`: as it is; of a new row empty. */
  readonly metadata: Metadata | undefined;
}

/** Never backwards, and nothing comes after the end (CONTRACT §4). */
function later(status: TaskStatus) {
  return sql<TaskStatus>`
    case
      when media_tasks.status in ('completed', 'failed') then media_tasks.status
      when media_tasks.status = 'processing' and ${status} = 'pending' then media_tasks.status
      else ${status}
    end`;
}

/** Who it belongs to, its media type and when it began are kept from the first write. */
export async function upsertTask(db: Handle, task: TaskWrite): Promise<StoredTask> {
  const { status, metadata } = task;
  return db
    .insertInto('media_tasks')
    .values({
      task_id: task.taskId,
      owner_id: task.ownerId,
      media_type: task.mediaType,
      status: status ?? 'pending',
      metadata: json(metadata ?? {}),
      run_id: null,
      asset_id: null,
      created_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
    })
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
  task: TaskWrite & { readonly runId: string; readonly assetId: string },
): Promise<void> {
  await db
    .insertInto('media_tasks')
    .values({
      task_id: task.taskId,
      owner_id: task.ownerId,
      media_type: task.mediaType,
      status: task.status ?? 'pending',
      metadata: json(task.metadata ?? {}),
      run_id: task.runId,
      asset_id: task.assetId,
      created_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
    })
    .execute();
}

/** Written by the job of the run; `metadata` is added to what is there. `false`: the task was deleted. */
export async function advanceRun(
  db: Handle,
  { taskId, runId }: { readonly taskId: string; readonly runId: string },
  status: TaskStatus,
  metadata: Metadata = {},
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('media_tasks')
    .set({
      status: later(status),
      metadata: sql<Metadata>`media_tasks.metadata || ${json(metadata)}`,
      updated_at: sql<Date>`now()`,
    })
    .where('task_id', '=', taskId)
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** As it was read; `false`: it was written or deleted meanwhile. */
export async function dropTask(
  db: Handle,
  { taskId, revision }: Pick<StoredTask, 'taskId' | 'revision'>,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('media_tasks')
    .where('task_id', '=', taskId)
    .where(sql<boolean>`xmin::text = ${revision}`)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}

/** How many there were. */
export async function dropTasksOf(db: Handle, ownerId: string): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('media_tasks')
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** The videos of these owners that a job has not done with yet. */
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

/** Whether another run is for the same video: cancelled and begun anew, or begun twice. */
export async function hasOtherRun(db: Handle, assetId: string, runId: string): Promise<boolean> {
  const other = db
    .selectFrom('media_tasks')
    .select('task_id')
    .where('asset_id', '=', assetId)
    .where('run_id', '<>', runId);
  return (await other.limit(1).executeTakeFirst()) !== undefined;
}
