/** Runs and generations of all users, newest first. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { Place } from '../generation/generationstore.ts';
import type { AgentTables } from '../tables.ts';
import type { GenerationRecord, GenerationRecordListing, RunListing } from './api.ts';

const microseconds = sql<string>`(extract(epoch from created_at) * 1000000)::bigint::text`;

const isBelow = (id: string, { createdAtUs, id: last }: Place) =>
  sql<boolean>`(created_at, ${sql.ref(id)}) <
    (timestamptz 'epoch' + ${createdAtUs}::bigint * interval '1 microsecond', ${last}::uuid)`;

function selectRuns(db: Db<AgentTables>) {
  return db
    .selectFrom('agent_runs')
    .select([
      'task_id as taskId',
      'thread_id as threadId',
      'owner_id as userId',
      'status',
      'model',
      'error',
      'error_code as errorCode',
      'created_at as createdAt',
      'ended_at as endedAt',
      'restarts',
      'record',
      'trace',
      microseconds.as('createdAtUs'),
    ]);
}

export type StoredRecord = Awaited<ReturnType<typeof listRunRecords>>[number];

export function findRunRecord(db: Db<AgentTables>, taskId: string) {
  return selectRuns(db).where('task_id', '=', taskId).executeTakeFirst();
}

export function listRunRecords(
  db: Db<AgentTables>,
  { status, userId, model }: RunListing,
  after: Place | undefined,
  limit: number,
) {
  return selectRuns(db)
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'failed'))
    .$if(userId !== undefined, (query) => query.where('owner_id', '=', userId ?? ''))
    .$if(model !== undefined, (query) => query.where('model', '=', model ?? ''))
    .where(after === undefined ? sql<boolean>`true` : isBelow('task_id', after))
    .orderBy('created_at', 'desc')
    .orderBy('task_id', 'desc')
    .limit(limit)
    .execute();
}

/** Without threads that are being deleted, and those that their owner does not keep. */
export function listTitles(db: Db<AgentTables>, threadIds: readonly string[]) {
  return db
    .selectFrom('agent_threads')
    .select(['thread_id as threadId', 'title'])
    .where(sql<boolean>`thread_id = any(${threadIds}::text[])`)
    .where('deleting_at', 'is', null)
    .where('temporary', '=', false)
    .execute();
}

export type StoredGenerationRecord = Omit<GenerationRecord, 'createdAt' | 'endedAt'> & {
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly createdAtUs: string;
};

/** Images ordered without a run, and all videos. Each table returns a page, so that the indexes serve the order. */
export async function listGenerationRecords(
  db: Db<AgentTables>,
  { status, userId, model, kind }: GenerationRecordListing,
  after: Place | undefined,
  limit: number,
): Promise<readonly StoredGenerationRecord[]> {
  const conditions = (
    id: string,
    columns: { readonly owner: string; readonly model: RawBuilder<unknown> },
    of: 'image' | 'video',
  ) =>
    sql.join(
      [
        kind === undefined || kind === of ? sql`true` : sql`false`,
        ...(userId === undefined ? [] : [sql`${sql.ref(columns.owner)} = ${userId}`]),
        ...(model === undefined ? [] : [sql`${columns.model} = ${model}`]),
        ...(status === undefined ? [] : [sql`${of === 'image' ? sql`status` : videoStatus} = ${status}`]),
        ...(after === undefined ? [] : [isBelow(id, after)]),
      ],
      sql` and `,
    );
  const images = conditions('generation_id', { owner: 'owner_id', model: sql`model` }, 'image');
  const videoModel = sql`coalesce(media_model, 'video')`;
  const videos = conditions('video_id', { owner: 'resource_id', model: videoModel }, 'video');
  const { rows } = await sql<StoredGenerationRecord>`
    with images as (
      select *, ${microseconds} as us from agent_generations where ${images}
      order by created_at desc, generation_id desc limit ${limit}
    ), videos as (
      select *, ${microseconds} as us, ${videoStatus} as shown from agent_videos where ${videos}
      order by created_at desc, video_id desc limit ${limit}
    ), shown as (
      select images.generation_id as id, 'image' as kind, images.owner_id as "userId", null::uuid as "taskId", images.model,
        images.status, items.count, items.delivered, images.credits, null::float8 as "costUsd",
        failed.failure->>'message' as failure, failed.failure->>'code' as "failureCode", failed.answer,
        images.created_at as "createdAt", images.ended_at as "endedAt", images.us as "createdAtUs"
      from images
      cross join lateral (
        select count(*)::int as count, (count(*) filter (where status = 'completed'))::int as delivered
        from agent_generation_items item where item.generation_id = images.generation_id
      ) as items
      left join lateral (
        select failure, answer from agent_generation_items item
        where item.generation_id = images.generation_id and failure is not null order by index limit 1
      ) as failed on true
      union all
      select video_id, 'video', resource_id, case when origin = 'api' then null else task_id end, ${videoModel},
        shown, 1, case when shown = 'completed' then 1 else 0 end,
        case when shown = 'running' then null else credits end,
        case when shown = 'completed' then cost_usd end, failure_message, failure_code, answer,
        created_at, case when shown = 'running' then null else updated_at end, us
      from videos
    )
    select * from shown order by "createdAt" desc, id desc limit ${limit}`.execute(db);
  return rows;
}

const videoStatus = sql`case
  when status in ('queued', 'processing') then 'running'
  when status = 'failed' and failure_code = 'aborted' then 'canceled'
  else status end`;
