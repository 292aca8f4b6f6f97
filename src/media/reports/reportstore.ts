/** The rows of reports. */
import { type Insertable, type NotNull, sql } from 'kysely';
import { type Db, hasChanged, inCamelCase, type Tx } from '#platform/db/db.ts';
import { isCopyOf } from '../assets/assetstore.ts';
import type { Decision } from '../incidents/api.ts';
import { generationOfContent, isUnanswered, titleOfAsset, titleOfContent } from '../screening/incidentstore.ts';
import { type Handle, isLive, type MediaTables } from '../tables.ts';
import type { ContentPlaces } from './api.ts';

/** `false`: there were `max` within a day. */
export async function countReport(tx: Tx<MediaTables>, reporter: string, max: number): Promise<boolean> {
  const { rows } = await sql`
    insert into report_counts as known (reporter) values (${reporter})
    on conflict (reporter) do update set
      since = case when known.since < now() - interval '1 day' then now() else known.since end,
      count = case when known.since < now() - interval '1 day' then 1 else known.count + 1 end
    where known.count < ${max} or known.since < now() - interval '1 day'
    returning 1`.execute(tx);
  return rows.length > 0;
}

export async function dropOldCounts(db: Handle): Promise<void> {
  await db.deleteFrom('report_counts').where(sql<boolean>`since < now() - interval '1 day'`).execute();
}

export async function findReport(tx: Handle, reporter: string, target: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('content_reports')
    .select('report_id')
    .where((eb) => eb.and({ reporter, target }))
    .executeTakeFirst();
  return row?.report_id;
}

type NewReport = Insertable<MediaTables['content_reports']>;

export async function insertReport(tx: Tx<MediaTables>, report: NewReport): Promise<string> {
  const row = await tx.insertInto('content_reports').values(report).returning('report_id').executeTakeFirstOrThrow();
  return row.report_id;
}

/** Makes or joins the open incident of an asset. `undefined`: the asset is gone. `reports`: 0 for an operator. */
export async function joinAssetIncident(
  tx: Handle,
  assetId: string,
  shareId: string | null,
  isPriority: boolean,
  reports: 0 | 1,
): Promise<string | undefined> {
  const { rows } = await sql<{ readonly id: string }>`
    insert into screening_incidents as known (
      asset_id, owner_id, scope_kind, scope_id, kind, mime, byte_size, etag, sha256, md5, pdq, pdq_quality,
      check_name, list, origin, share_id, reports, is_priority, source_id, title, generation
    )
    select asset_id, owner_id, scope_kind, scope_id, kind, mime, byte_size, etag, coalesce(sha256, ''),
      coalesce(md5, ''), pdq, pdq_quality, 'report', 'report', 'report', ${shareId}::text, ${reports}::int, ${isPriority}::boolean,
      copied_from, ${titleOfAsset}, generation
    from assets where asset_id = ${assetId}::uuid and ready_at is not null
    on conflict (asset_id) where check_name in ('report', 'flag') and status = 'open' and asset_id is not null
    do update set reports = known.reports + excluded.reports, is_priority = known.is_priority or excluded.is_priority,
      share_id = coalesce(known.share_id, excluded.share_id)
    returning incident_id as id`.execute(tx);
  return rows[0]?.id;
}

/** Makes or joins the open incident of a shared conversation. `undefined`: the share has ended. */
export async function joinThreadIncident(
  tx: Tx<MediaTables>,
  shareId: string,
  isPriority: boolean,
): Promise<string | undefined> {
  const { rows } = await sql<{ readonly id: string }>`
    insert into screening_incidents as known (
      owner_id, scope_kind, scope_id, kind, mime, byte_size, etag, sha256, md5,
      check_name, list, origin, thread_id, share_id, reports, is_priority, title
    )
    select owner_id, 'thread', thread_id, 'thread', 'application/json', 0, '', '', '',
      'report', 'report', 'report', thread_id, share_id, 1, ${isPriority}::boolean, snapshot ->> 'title'
    from shares where share_id = ${shareId} and thread_id is not null
    on conflict (owner_id, thread_id) where thread_id is not null and status = 'open'
    do update set reports = known.reports + 1, is_priority = known.is_priority or excluded.is_priority,
      share_id = excluded.share_id
    returning incident_id as id`.execute(tx);
  return rows[0]?.id;
}

const mostReports = 1000;

export function listReports(db: Handle, incidentId: string) {
  return db
    .selectFrom('content_reports')
    .select(['report_id as id', 'reporter_id as userId', 'created_at as createdAt'])
    .select(['reason', 'note', 'contact', 'language'])
    .where('incident_id', '=', incidentId)
    .orderBy('created_at')
    .orderBy('report_id')
    .limit(mostReports)
    .execute();
}

export function listReportsOf(db: Handle, reporterId: string, afterId: string | undefined, limit: number) {
  return db
    .selectFrom('content_reports')
    .select(['report_id as id', 'reason', 'note', 'contact', 'created_at as createdAt'])
    .select(sql<string | null>`substring(target from '^asset:(.*)$')`.as('assetId'))
    .where('reporter_id', '=', reporterId)
    .$if(afterId !== undefined, (query) => query.where('report_id', '>', String(afterId)))
    .orderBy('report_id')
    .limit(limit)
    .execute();
}

/** What is known about the reported bytes. */
export function findContent(db: Handle, incidentId: string) {
  return db
    .selectFrom('screening_incidents')
    .select(['kind', 'mime', 'byte_size as byteSize', 'sha256', 'md5', 'pdq'])
    .where('incident_id', '=', incidentId)
    .executeTakeFirstOrThrow();
}

/** Takes the person out of the reports. The incidents stay. */
export async function forgetReporter(db: Db<MediaTables>, userId: string): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('content_reports')
    .set({ reporter: sql<string>`'erased:' || report_id`, reporter_id: null, note: null, contact: null })
    .where('reporter_id', '=', userId)
    .executeTakeFirstOrThrow();
  await db.deleteFrom('report_counts').where('reporter', '=', `user:${userId}`).execute();
  return Number(numUpdatedRows);
}

// The rows that a decision changes.

type TxHandle = Tx<MediaTables>;

/** Locked until the transaction ends. */
export function lockIncident(tx: TxHandle, id: string) {
  return tx
    .selectFrom('screening_incidents')
    .select([
      'incident_id as id',
      'check_name as check',
      ...inCamelCase('asset_id owner_id kind thread_id share_id source_id decision statement status'),
      isUnanswered.as('isAppealed'),
    ])
    .where('incident_id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

type DecidableIncident = NonNullable<Awaited<ReturnType<typeof lockIncident>>>;

export async function writeDecision(tx: TxHandle, id: string, decision: Decision, statement: string): Promise<void> {
  await tx
    .updateTable('screening_incidents')
    .set({
      decision,
      statement,
      earlier: sql`case when decision is null then earlier else earlier || jsonb_build_object('decision', decision,
        'statement', coalesce(statement, ''), 'at', to_char(resolved_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end`,
      title: titleOfContent,
      generation: generationOfContent,
      status: decision === 'dismiss' ? 'cleared' : 'upheld',
      resolved_at: sql<Date>`clock_timestamp()`,
    })
    .where('incident_id', '=', id)
    .execute();
}

/** Decisions about content of a person, newest first. */
export function listDecisions(db: Db<MediaTables>, ownerId: string, limit: number) {
  return db
    .selectFrom('screening_incidents')
    .select([
      'incident_id as id',
      ...inCamelCase('asset_id kind decision statement resolved_at appealed_at'),
      isUnanswered.as('isAppealed'),
    ])
    .where('owner_id', '=', ownerId)
    .where('decision', 'is not', null)
    .$narrowType<{ decision: NotNull; statement: NotNull; resolvedAt: NotNull }>()
    .orderBy('resolved_at', 'desc')
    .limit(limit)
    .execute();
}

/** The content that a decision is about, also if the reported copy is gone. */
export async function contentOf(tx: TxHandle, incident: DecidableIncident): Promise<readonly string[]> {
  const { assetId, sourceId, ownerId, threadId } = incident;
  if (assetId === null) return mediaOfThread(tx, ownerId, String(threadId));
  return sourceId === null ? [assetId] : [assetId, sourceId];
}

/** The media that a shared conversation shows, also while its page is hidden, and nothing if the share was ended. */
async function mediaOfThread(tx: TxHandle, ownerId: string, threadId: string): Promise<readonly string[]> {
  const row = await tx
    .selectFrom('shares')
    .select('snapshot')
    .where((eb) => eb.and({ owner_id: ownerId, thread_id: threadId }))
    .executeTakeFirst();
  const parts = row?.snapshot?.messages.flatMap((message) => message.parts) ?? [];
  return [...new Set(parts.flatMap((part) => (part.type === 'media' ? [part.assetId] : [])))];
}

const showsAsset = sql<boolean>`shares.owner_id = assets.owner_id and (
  shares.asset_id = assets.asset_id
  or jsonb_path_exists(snapshot, '$.messages[*].parts[*] ? (@.assetId == $id)', jsonb_build_object('id', assets.asset_id))
)`;

/** The ready assets with the content of an asset, and those with its bytes. Published ones first. */
export async function findPlaces(db: Handle, assetId: string, limit: number) {
  const { rows } = await sql<ContentPlaces['places'][number]>`
    with copies as (
      select asset_id, sha256 from assets where ${isCopyOf([assetId])}
      union select coalesce(source_id, asset_id), nullif(sha256, '') from screening_incidents where asset_id = ${assetId}
    )
    select asset_id as "assetId", owner_id as "ownerId", scope_kind as "scopeKind", scope_id as "scopeId",
      coalesce(sha256, '') as sha256, ${titleOfAsset} as title, restricted_at is not null as "isRestricted",
      asset_id in (select asset_id from copies) as "isCopy",
      array(select share_id from shares where ${showsAsset} and ${isLive} order by created_at) as "shareIds",
      (select count(*)::int from shares where ${showsAsset} and hidden_at is not null) as "hiddenPages"
    from assets where ready_at is not null and asset_id in (
      select asset_id from copies
      union select same.asset_id from assets as same where same.sha256 in (select sha256 from copies)
    ) order by scope_kind = 'feed' desc, created_at, asset_id limit ${limit}`.execute(db);
  return rows;
}

const affectedColumns = ['asset_id as assetId', 'backend', 'bucket', 'storage_key as storageKey'] as const;

/** The ready assets of the owner among `assetIds`, all their copies, and the posters of its videos. */
export async function findAffected(tx: TxHandle, ownerId: string, assetIds: readonly string[]) {
  const { rows: copies } = await sql<{ readonly id: string }>`
    select asset_id as id from assets
    where ${isCopyOf(assetIds)} and owner_id = ${ownerId} and ready_at is not null`.execute(tx);
  const ids = copies.map(({ id }) => id);
  return tx
    .selectFrom('assets')
    .select(affectedColumns)
    .where('owner_id', '=', ownerId)
    .where('ready_at', 'is not', null)
    .where(
      sql<boolean>`(asset_id = any(${ids}::uuid[]) or asset_id in (
        select thumb_asset_id from assets as video where video.asset_id = any(${ids}::uuid[]) and video.owner_id = ${ownerId}
      ))`,
    )
    .orderBy('asset_id')
    .forUpdate()
    .execute();
}

/** Those of `assetIds` whose own newest decision, or a flag without one, hides them: a decision about a page does not show them. */
export async function findHiddenAlone(tx: TxHandle, ownerId: string, assetIds: readonly string[]) {
  const { rows } = await sql<{ readonly id: string }>`
    select id from (
      select distinct on (asset_id) asset_id as id, decision from screening_incidents
      where owner_id = ${ownerId} and asset_id = any(${assetIds}::uuid[])
        and (check_name = 'flag' or (check_name = 'report' and decision is not null))
      order by asset_id, resolved_at desc nulls first
    ) as newest where decision is null or decision = 'restrict'`.execute(tx);
  return findAffected(
    tx,
    ownerId,
    rows.map(({ id }) => id),
  );
}

/** Only the owner can read them from now on. */
export async function restrictAssets(tx: TxHandle, assetIds: readonly string[]): Promise<void> {
  await sql`
    update assets set restricted_at = coalesce(restricted_at, now()), version = version + 1
    where asset_id = any(${assetIds}::uuid[])`.execute(tx);
}

export async function releaseAssets(tx: TxHandle, assetIds: readonly string[]): Promise<void> {
  await sql`
    update assets set restricted_at = null, version = version + 1
    where asset_id = any(${assetIds}::uuid[]) and restricted_at is not null`.execute(tx);
}

/** Moves a row to the bytes at `key`. `false`: it has changed since. */
export async function moveAsset(
  db: Db<MediaTables>,
  { assetId, from, key, etag }: Readonly<Record<'assetId' | 'from' | 'key' | 'etag', string>>,
): Promise<boolean> {
  return db
    .updateTable('assets')
    .set({ storage_key: key, etag, version: sql<number>`version + 1` })
    .where((eb) => eb.and({ asset_id: assetId, storage_key: from }))
    .where('ready_at', 'is not', null)
    .$call(hasChanged);
}
