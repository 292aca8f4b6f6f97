/** Runs and generations of all users, newest first. */
import { type RawBuilder, sql } from 'kysely';
import { type Db, inCamelCase } from '#platform/db/db.ts';
import { createdAtUs, isBelow, microseconds, type Place } from '#platform/db/paging.ts';
import type { UsageTotals } from '../operatorapi.ts';
import type { AgentTables } from '../tables.ts';
import type { GenerationRecord, GenerationRecordListing, RunListing } from './api.ts';

/** A search reads the newest rows of a table. */
const mostSearched = 10_000;

interface Search {
  readonly q?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** `matches`: the needle is normalized as the search texts of messages are. */
function within(table: string, { q, from, to }: Search, matches: (needle: string, q: string) => RawBuilder<unknown>) {
  const newest = sql`created_at >= coalesce(
    (select created_at from ${sql.table(table)} order by created_at desc offset ${mostSearched} limit 1), '-infinity')`;
  return [
    ...(from === undefined ? [] : [sql`created_at >= ${from}::date::timestamp at time zone 'UTC'`]),
    ...(to === undefined ? [] : [sql`created_at < (${to}::date + 1)::timestamp at time zone 'UTC'`]),
    ...(q === undefined ? [] : [newest, sql`(${matches(q.normalize('NFKC').toLowerCase(), q)})`]),
  ];
}

/** Operators do not see the content of threads that are being deleted, or that their owner does not keep. */
const isHidden = (table: string) => sql`exists (select from agent_threads hidden
  where hidden.thread_id = ${sql.ref(`${table}.thread_id`)} and (hidden.temporary or hidden.deleting_at is not null))`;

const isOwnedBy = (owner: string, needle: string) =>
  sql`${sql.ref(owner)} in (select id from user_profiles where starts_with(lower(email), ${needle}))`;

const isQuestion = sql`question.thread_id = agent_runs.thread_id and question.task_id = agent_runs.task_id
  and question.role = 'user' and not ${isHidden('agent_runs')}`;

const request = sql<string | null>`(
  select left(regexp_replace(left(string_agg(part->>'text', ' '), 2000), '\\s+', ' ', 'g'), 300)
  from jsonb_array_elements(coalesce(
    (select parts from agent_messages question where ${isQuestion} order by seq limit 1),
    case when not ${isHidden('agent_runs')} then agent_runs.question->'parts' end)) part
  where part->>'type' = 'text')`;

const matchesRun = (needle: string, q: string) => sql`
  exists (select from agent_messages question where ${isQuestion} and strpos(question.search_text, ${needle}) > 0)
  or ${q} in (task_id::text, trace->>'traceId', trace->>'requestId') or ${isOwnedBy('owner_id', needle)}
  or strpos(lower(concat(error, record->>'answer')), ${needle}) > 0`;

function selectRuns(db: Db<AgentTables>) {
  return db
    .selectFrom('agent_runs')
    .select([
      'owner_id as userId',
      ...inCamelCase('task_id thread_id status model error error_code created_at ended_at restarts record trace'),
      request.as('request'),
      sumOfVideos(sql`case when status in ('completed', 'failed') then credits end`).as('videoCredits'),
      sumOfVideos(sql`case when status = 'completed' then cost_usd end`).as('videoCostUsd'),
      createdAtUs,
    ]);
}

/** What a run was charged is stored without its videos, which can end after it. */
const sumOfVideos = (figure: RawBuilder<unknown>) => sql<number>`(
  select coalesce(sum(${figure}), 0)::float8 from agent_videos
  where agent_videos.thread_id = agent_runs.thread_id and agent_videos.task_id = agent_runs.task_id)`;

export type RunRow = Awaited<ReturnType<typeof listRunRecords>>[number];

export function findRunRecord(db: Db<AgentTables>, taskId: string) {
  return selectRuns(db).where('task_id', '=', taskId).executeTakeFirst();
}

export function listRunRecords(
  db: Db<AgentTables>,
  { status, userId, model, threadId, ...search }: RunListing,
  after: Place | undefined,
  limit: number,
) {
  return selectRuns(db)
    .where(sql<boolean>`${sql.join([sql`true`, ...within('agent_runs', search, matchesRun)], sql` and `)}`)
    .$if(threadId !== undefined, (query) => query.where('thread_id', '=', threadId ?? ''))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'failed'))
    .$if(userId !== undefined, (query) => query.where('owner_id', '=', userId ?? ''))
    .$if(model !== undefined, (query) => query.where('model', '=', model ?? ''))
    .where(isBelow('task_id', after))
    .orderBy('created_at', 'desc')
    .orderBy('task_id', 'desc')
    .limit(limit)
    .execute();
}

/** Failed runs by user, of the 10,000 users with the most. */
export async function countFailures(db: Db<AgentTables>, from: string): Promise<Readonly<Record<string, number>>> {
  const { rows } = await sql<{ readonly userId: string; readonly runs: number }>`
    select owner_id as "userId", count(*)::int as runs from agent_runs
    where status = 'failed' and created_at >= ${from}::date::timestamp at time zone 'UTC'
    group by owner_id order by runs desc limit 10000`.execute(db);
  return Object.fromEntries(rows.map(({ userId, runs }) => [userId, runs]));
}

/** Without threads that are being deleted, and those that their owner does not keep. */
export async function listTitles(db: Db<AgentTables>, threadIds: readonly string[]) {
  const rows = await db
    .selectFrom('agent_threads')
    .select(['thread_id as threadId', 'title'])
    .where(sql<boolean>`thread_id = any(${threadIds}::text[])`)
    .where('deleting_at', 'is', null)
    .where('temporary', '=', false)
    .execute();
  return Object.fromEntries(rows.map(({ threadId, title }) => [threadId, title]));
}

export type StoredGenerationRecord = Omit<GenerationRecord, 'createdAt' | 'orderedAt' | 'endedAt'> & {
  readonly createdAt: Date;
  readonly orderedAt: Date | null;
  readonly endedAt: Date | null;
  readonly createdAtUs: string;
};

/** The images of a run are one entry. Each table returns a page, so that the indexes serve the order. */
export async function listGenerationRecords(
  db: Db<AgentTables>,
  { status, userId, model, kind, id: only, taskId, ...search }: GenerationRecordListing,
  after: Place | undefined,
  limit: number,
  usual: string,
): Promise<readonly StoredGenerationRecord[]> {
  const conditions = (
    table: string,
    id: string,
    owner: string,
    columns: Readonly<Record<'model' | 'status' | 'failure', RawBuilder<unknown>>>,
    prompts = sql`input->>'prompt'`,
  ) =>
    sql.join(
      [
        kind === undefined || (kind === 'video') === (table === 'agent_videos') ? sql`true` : sql`false`,
        ...(only === undefined ? [] : [sql`${sql.ref(id)} = ${only}`]),
        ...(taskId === undefined ? [] : [table === 'agent_generations' ? sql`false` : sql`task_id = ${taskId}`]),
        ...(userId === undefined ? [] : [sql`${sql.ref(owner)} = ${userId}`]),
        ...(model === undefined ? [] : [sql`${columns.model} = ${model}`]),
        ...(status === undefined ? [] : [sql`${columns.status} = ${status}`]),
        isBelow(id, after),
        ...within(table, search, (needle, q) => {
          const texts = sql`lower(concat_ws(' ', ${prompts}, ${columns.failure}))`;
          return sql`strpos(${texts}, ${needle}) > 0 or ${sql.ref(id)}::text = ${q} or ${isOwnedBy(owner, needle)}
            or ${q} in (trace->>'requestId', trace->>'traceId')`;
        }),
      ],
      sql` and `,
    );
  const images = conditions('agent_generations', 'generation_id', 'owner_id', {
    ...{ model: sql`model`, status: sql`status` },
    failure: sql`(select string_agg(concat(failure->>'message', answer), ' ') from agent_generation_items item
      where item.generation_id = agent_generations.generation_id)`,
  });
  const videoPrompt = sql`case when not ${isHidden('agent_videos')} then input->>'prompt' end`;
  const failureOfVideo = sql`concat(failure_message, answer)`;
  const videoColumns = { model: videoModel, status: videoStatus, failure: failureOfVideo };
  const videos = conditions('agent_videos', 'video_id', 'resource_id', videoColumns, videoPrompt);
  const runColumns = { model: runModel('agent_runs', usual), status: runStatus, failure: sql`record->>'images'` };
  const runs = conditions('agent_runs', 'task_id', 'owner_id', runColumns, promptsOf('agent_runs'));
  const { rows } = await sql<StoredGenerationRecord>`
    with images as (
      select *, ${microseconds} as us from agent_generations where ${images}
      order by created_at desc, generation_id desc limit ${limit}
    ), videos as (
      select *, ${microseconds} as us, ${videoStatus} as shown, ${videoPrompt} as prompt from agent_videos where ${videos}
      order by created_at desc, video_id desc limit ${limit}
    ), runs as (
      select *, ${microseconds} as us, record->'images' as made from agent_runs
      where (record->'images') is not null and ${runs}
      order by created_at desc, task_id desc limit ${limit}
    ), shown as (
      select images.generation_id as id, 'image' as kind, images.owner_id as "userId", null::uuid as "taskId",
        images.input->>'prompt' as prompt, items.assets as "assetIds", images.model,
        images.status, items.count, items.delivered, images.credits, null::float8 as "costUsd",
        failed.failure->>'message' as failure, failed.failure->>'code' as "failureCode", failed.answer,
        images.created_at as "createdAt", images.ended_at as "endedAt", images.us as "createdAtUs",
        images.trace->>'requestId' as "requestId", images.trace->>'traceId' as "traceId",
        images.input->>'ratio' as ratio, coalesce(images.input->'references', '[]') as "references",
        null::int as required, null::int as balance, images.price, ${parametersIn(sql`images.input`)} as parameters, images.ordered_at as "orderedAt",
        ${msBetween(sql`images.created_at`, sql`images.ended_at`)} as "tookMs"
      from images
      cross join lateral (
        select count(*)::int as count, (count(*) filter (where status = 'completed'))::int as delivered,
          coalesce(jsonb_agg(asset_id order by index) filter (where asset_id is not null), '[]') as assets
        from agent_generation_items item where item.generation_id = images.generation_id
      ) as items
      left join lateral (
        select failure, answer from agent_generation_items item
        where item.generation_id = images.generation_id and failure is not null order by index limit 1
      ) as failed on true
      union all
      select video_id, 'video', resource_id, case when origin = 'run' then task_id end, prompt,
        case when asset_id is null then '[]' else jsonb_build_array(asset_id) end, ${videoModel},
        shown, 1, case when shown = 'completed' then 1 else 0 end,
        case when shown = 'running' then null else credits end,
        case when shown = 'completed' then cost_usd end, failure_message, failure_code, answer,
        created_at, case when shown = 'running' then null else updated_at end, us,
        trace->>'requestId', trace->>'traceId', input->>'ratio', case when prompt is null then '[]' else
          to_jsonb(array_remove(array[input->>'firstFrame'], null)) || coalesce(input->'references', '[]') end,
        case when shown = 'refused' then price end, null, price, ${parametersIn(sql`input`)}, ordered_at,
        case when shown <> 'running' then ${msBetween(sql`created_at`, sql`updated_at`)} end
      from videos
      union all
      select task_id, 'image', owner_id, task_id, (${promptsOf('runs')}), ${assetsOf('runs')}, ${runModel('runs', usual)},
        ${runStatus}, (made->>'count')::int, (made->>'delivered')::int, (made->>'credits')::int,
        (made->>'costUsd')::float8, made->>'failure', made->>'code', made->>'answer', created_at, ended_at, us,
        trace->>'requestId', trace->>'traceId',
        ${callsOf('runs', ratios)}, '[]', ${refused('required')}, ${refused('balance')}, null, coalesce(${callsOf('runs', parametersIn(sql`jsonb_agg(part->'input')->0`))}, '{}'), null, ${imagesTook}
      from runs
    )
    select * from shown order by "createdAt" desc, id desc limit ${limit}`.execute(db);
  return rows;
}

/** What models of images and videos made, from one day to another, both included. Images without a run have no stored cost. */
export async function sumMedia(
  db: Db<AgentTables>,
  days: { readonly from: string; readonly to: string },
  priceOf: (model: string) => number | undefined,
  usual: string,
): Promise<UsageTotals['media']> {
  const ofDays = (table: string) =>
    sql.join(
      within(table, days, () => sql`true`),
      sql` and `,
    );
  const { rows } = await sql<UsageTotals['media'][number] & { readonly unpriced: number }>`
    with ended as (
      select 'image' as kind, model, (select count(*) from agent_generation_items item
          where item.generation_id = agent_generations.generation_id and item.status = 'completed') as delivered,
        credits, null::float8 as cost_usd, ended_at - created_at as took
      from agent_generations where status <> 'running' and ${ofDays('agent_generations')}
      union all
      select 'video', ${videoModel}, (status = 'completed')::int, credits,
        case when status = 'completed' then cost_usd end, updated_at - created_at
      from agent_videos where ${videoStatus} <> 'running' and ${ofDays('agent_videos')}
      union all
      select 'image', ${runModel('agent_runs', usual)}, (record->'images'->>'delivered')::int,
        (record->'images'->>'credits')::int, (record->'images'->>'costUsd')::float8, null
      from agent_runs where (record->'images') is not null and ${ofDays('agent_runs')}
    )
    select kind, model, count(*)::int as orders, (count(*) filter (where delivered = 0))::int as failed,
      sum(delivered)::int as delivered, coalesce(sum(credits), 0)::int as credits, sum(cost_usd) as "costUsd",
      (coalesce(sum(delivered) filter (where cost_usd is null), 0))::int as unpriced,
      (1000 * avg(extract(epoch from took)) filter (where delivered > 0))::int as "meanMs"
    from ended group by kind, model order by kind, credits desc, model`.execute(db);
  return rows.map(({ unpriced, costUsd, ...row }) => {
    const price = priceOf(row.model);
    return { ...row, costUsd: price === undefined ? costUsd : (costUsd ?? 0) + price * unpriced };
  });
}

const parametersIn = (input: RawBuilder<unknown>) =>
  sql`(${input}) - '{prompt,ratio,references,mask,firstFrame}'::text[]`;

const msBetween = (from: RawBuilder<unknown>, to: RawBuilder<unknown>) =>
  sql`(extract(epoch from ${to} - ${from}) * 1000)::int`;

/** The calls of a step run at the same time. */
const imagesTook = sql`(select sum(longest)::int from jsonb_array_elements(record->'timeline') step
  cross join lateral (select max((call->>'tookMs')::int) as longest from jsonb_array_elements(step->'calls') call
    where call->>'name' in ('generateImage', 'editImage')) as calls)`;

/** The calls of tools that make images, in the answer of a run. */
const callsOf = (table: string, selected: RawBuilder<unknown>) => sql`(
  select ${selected} from agent_messages answer cross join lateral jsonb_array_elements(answer.parts) part
  where answer.thread_id = ${sql.ref(`${table}.thread_id`)} and answer.id = ${sql.ref(`${table}.message_id`)}
    and part->>'type' in ('tool-generateImage', 'tool-editImage') and not ${isHidden(table)})`;

const promptsOf = (table: string) => callsOf(table, sql`string_agg(part->'input'->>'prompt', ' · ')`);

/** An edit has the ratio of its source, unless another one is chosen. */
const ratios = sql`string_agg(distinct coalesce(part->'input'->>'ratio', runs.options->'media'->>'ratio',
  case when part->>'type' = 'tool-generateImage' and not part->'input' ? 'references' then '1:1' end), ', ')`;

/** Of the calls that their user could not pay. */
const refused = (figure: 'required' | 'balance') =>
  sql`case when ${runStatus} = 'refused' then ${callsOf('runs', sql`min((part->'output'->'failure'->>${sql.lit(figure)})::int)`)} end`;

/** `usual`: an order that was refused early, or of an earlier version, has no stored model. */
const runModel = (table: string, usual: string) => sql`coalesce(record->'images'->>'model',
  ${callsOf(table, sql`min(part->'input'->>'model')`)}, options->'media'->>'imageModel', ${usual})`;

const assetsOf = (table: string) =>
  callsOf(
    table,
    sql`coalesce(jsonb_path_query_array(jsonb_agg(part->'output'), '$[*].assetIds[*]')
      || jsonb_path_query_array(jsonb_agg(part->'output'), '$[*] ? (!exists(@.assetIds)).assetId ? (@ != null)'), '[]')`,
  );

const videoModel = sql`coalesce(media_model, 'video')`;

/** The user could not pay, so there is nothing to look at. */
const refusals = sql`('insufficient_credits', 'insufficient_plan')`;

const runStatus = sql`case when (record->'images'->>'delivered')::int > 0 then 'completed'
  when status = 'aborted' then 'canceled'
  when record->'images'->>'code' in ${refusals} then 'refused' else 'failed' end`;

const videoStatus = sql`case
  when status in ('queued', 'processing') then 'running'
  when status = 'failed' and failure_code = 'aborted' then 'canceled'
  when failure_code in ${refusals} then 'refused'
  else status end`;
