/** The rows of incidents: blocked uploads with the reason. */

import { type RawBuilder, sql } from 'kysely';
import { type Db, inCamelCase } from '#platform/db/db.ts';
import { createdAtUs, type Place } from '#platform/db/paging.ts';
import type { AssetFacts } from '#webhooks/events.ts';
import type { Lineage } from '../api.ts';
import type { Incident, IncidentCounts, IncidentListing } from '../incidents/api.ts';
import { type Handle, isLive, keyOfCollection, type MediaTables } from '../tables.ts';
import type { Digests, Match } from './screening.ts';

const ofTheRow = [
  'asset_id',
  'owner_id',
  'scope_kind',
  'scope_id',
  'kind',
  'mime',
  'byte_size',
] as const satisfies readonly (keyof MediaTables['screening_incidents'])[];

/** A match and the bytes in which it was found. */
export interface Finding {
  /** Of the bytes. */
  readonly etag: string;
  readonly digests: Digests;
  readonly match: Match;
  /** The place of the same bytes that remain: the source asset, or the legacy file (`bucket/path`). */
  readonly origin: string | null;
  /** Until when a copy of the bytes is retained. `undefined`: there is none. */
  readonly evidenceUntil?: Date | undefined;
}

/** A row, if it still has this ETag. */
export interface Suspect {
  readonly assetId: string;
  readonly etag: string;
}

/**
 * Turns the row into a refusal and records the incident in one statement, so that there is never one without the other.
 * `undefined`: there is no such row, or it is being refused already. Ready rows are blocked too: another call's screening of the
 * same bytes can have passed a moment before a list was changed. The same bytes under the same id are one incident.
 */
export function blockAsset(db: Handle, suspect: Suspect, finding: Finding): Promise<AssetFacts | undefined> {
  const refused = sql`
    update assets set refusal = ${refusalOf(finding.match)}, ready_at = null, screened_at = null, version = version + 1
    where asset_id = ${suspect.assetId}::uuid and etag = ${suspect.etag} and refusal is null`;
  return writeIncident(db, refused, finding);
}

/** As `blockAsset`, for a row whose bytes are not removed: the row is deleted. */
export function blockAndDrop(db: Handle, suspect: Suspect, finding: Finding): Promise<AssetFacts | undefined> {
  const dropped = sql`delete from assets where asset_id = ${suspect.assetId}::uuid and etag = ${suspect.etag}`;
  return writeIncident(db, dropped, finding);
}

/** Only lists and a match of the classifier are about prohibited content. */
export const refusalOf = (match: Match) => (match.check === 'label' ? 'content_blocked' : 'csam_blocked');

/** The newest resolution of the content of an incident's row. Those about labels decide about labels alone. */
const isClearedContent = sql<boolean>`coalesce((
  select latest.status = 'cleared' from screening_incidents latest
  where latest.sha256 = screening_incidents.sha256 and latest.resolved_at is not null
    and latest.check_name not in ('report', 'flag')
    and (latest.check_name = 'label') = (screening_incidents.check_name = 'label')
  order by latest.resolved_at desc limit 1
), false)`;

/** Returns whether operators have cleared this content. It then passes, whatever the lists contain, but not every rule. */
export async function isCleared(db: Db<MediaTables>, sha256: string): Promise<boolean> {
  const row = await db
    .selectFrom('screening_incidents')
    .select('status')
    .where('sha256', '=', sha256)
    .where('resolved_at', 'is not', null)
    .where('check_name', 'not in', ['report', 'flag', 'label'])
    .orderBy('resolved_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.status === 'cleared';
}

/** The labels whose newest decision about this content is that it may stay. */
export async function findClearedLabels(db: Db<MediaTables>, sha256: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ readonly list: string; readonly status: Incident['status'] }>`
    select distinct on (list) list, status from screening_incidents
    where sha256 = ${sha256} and resolved_at is not null and check_name in ('label', 'flag')
    order by list, resolved_at desc`.execute(db);
  return new Set(rows.flatMap(({ list, status }) => (status === 'cleared' ? [list] : [])));
}

/** The label that a registration of this asset was blocked for. */
export async function findBlockingLabel(db: Db<MediaTables>, assetId: string): Promise<string> {
  const row = await db
    .selectFrom('screening_incidents')
    .select('list')
    .where((eb) => eb.and({ asset_id: assetId, check_name: 'label' }))
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.list ?? '';
}

/**
 * Puts a readable asset into the list of incidents, once for each label. An open report of it is enough. Without a
 * `label`, the asset is a video, and its poster may be in the list.
 */
export async function flagAsset(handle: Handle, assetId: string, label: string | undefined): Promise<void> {
  await sql`
    insert into screening_incidents (
      asset_id, owner_id, scope_kind, scope_id, kind, mime, byte_size, etag, sha256, md5, pdq, pdq_quality,
      check_name, list, origin, title, generation
    )
    select asset_id, owner_id, scope_kind, scope_id, kind, mime, byte_size, etag, coalesce(sha256, ''),
      coalesce(md5, ''), pdq, pdq_quality, 'flag', named.label, 'label', ${titleOfAsset}, generation
    from assets cross join lateral (select coalesce(${label ?? null}::text, (
      select poster.list from screening_incidents as poster
      where poster.asset_id = assets.thumb_asset_id and poster.owner_id = assets.owner_id
        and poster.check_name = 'flag' and poster.status = 'open'
    )) as label) as named
    where named.label is not null and asset_id = ${assetId}::uuid and ready_at is not null and not exists (
      select from screening_incidents as known
      where known.asset_id = assets.asset_id and known.check_name = 'flag' and known.list = named.label
    )
    on conflict (asset_id) where check_name in ('report', 'flag') and status = 'open' and asset_id is not null
    do nothing`.execute(handle);
}

/** There is an appeal, and no decision since. */
export const isUnanswered = sql<boolean>`(appeal is not null and (resolved_at is null or appealed_at > resolved_at))`;

export interface IncidentPlace extends Place {
  /** Only in the order of priority. */
  readonly isPriority?: boolean | undefined;
}

/** A copy has the name of its source. */
export const titleOfAsset = sql<string | null>`coalesce(assets.name, assets.prompt, (
  select coalesce(source.name, source.prompt) from assets as source where source.asset_id = assets.copied_from
))`;

/** The incident stores it, because owners and decisions about other incidents delete the asset. */
export const titleOfContent = sql<string | null>`coalesce((
  select ${titleOfAsset} from assets where assets.asset_id = screening_incidents.asset_id
), (
  select snapshot ->> 'title' from shares
  where shares.owner_id = screening_incidents.owner_id and shares.thread_id = screening_incidents.thread_id
), (
  select collections.title from collections
  where collections.owner_id = screening_incidents.owner_id
    and ${keyOfCollection('')}::text || collections.collection_id = screening_incidents.thread_id
), title)`;

export const generationOfContent = sql<Lineage | null>`coalesce((
  select assets.generation from assets where assets.asset_id = screening_incidents.asset_id
), screening_incidents.generation)`;

const incidentColumns = [
  'incident_id as id',
  ...inCamelCase(
    'status asset_id owner_id scope_kind scope_id sha256 list origin created_at resolved_at note appeal appealed_at',
    'thread_id share_id reports is_priority decision statement earlier evidence_until',
  ),
  'check_name as check',
  sql<string | null>`case when check_name in ('label', 'flag') then list end`.as('label'),
  titleOfContent.as('title'),
  sql<boolean>`exists (
    select from shares where shares.share_id = screening_incidents.share_id and ${isLive}
  )`.as('isShared'),
  generationOfContent.as('generation'),
  sql<boolean>`asset_id is not null and check_name in ('report', 'flag') and not exists (
    select from assets where assets.asset_id = screening_incidents.asset_id and assets.ready_at is not null
  )`.as('isGone'),
  sql<number>`(select count(*)::int from screening_incidents as alike where alike.status = 'open' and (
    alike.sha256 = nullif(screening_incidents.sha256, '')
    or coalesce(alike.source_id, alike.asset_id) = coalesce(screening_incidents.source_id, screening_incidents.asset_id)
  ))`.as('openAlike'),
  sql<string[]>`array(
    select distinct reason from content_reports
    where content_reports.incident_id = screening_incidents.incident_id order by reason
  )`.as('reasons'),
  sql<number>`floor(extract(epoch from now() - created_at))::integer`.as('ageSeconds'),
  createdAtUs,
] as const;

export type StoredIncident = NonNullable<Awaited<ReturnType<typeof findIncident>>>;

export function findIncident(db: Db<MediaTables>, id: string) {
  return db.selectFrom('screening_incidents').select(incidentColumns).where('incident_id', '=', id).executeTakeFirst();
}

export interface IncidentFilter extends Partial<Pick<IncidentListing, 'status' | 'ownerId' | 'list' | 'appealed'>> {
  /** Those about these assets, their copies, and the same bytes. */
  readonly alike?: readonly string[] | undefined;
  /** `true`: what has priority comes first. */
  readonly byPriority?: boolean | undefined;
}

/** Returns at most `limit` incidents after `after`, newest first, or by priority and then newest first. */
export function listIncidents(
  db: Db<MediaTables>,
  { status, ownerId, list, appealed, alike, byPriority = false }: IncidentFilter,
  after: IncidentPlace | undefined,
  limit: number,
): Promise<readonly StoredIncident[]> {
  return db
    .selectFrom('screening_incidents')
    .select(incidentColumns)
    .$if(status !== undefined, (query) => query.where(sql<boolean>`status = ${status}`))
    .$if(ownerId !== undefined, (query) => query.where('owner_id', '=', String(ownerId)))
    .$if(list !== undefined, (query) => query.where('list', '=', String(list)))
    .$if(appealed === 'true', (query) => query.where('appeal', 'is not', null))
    .$if(appealed === 'open', (query) => query.where(isUnanswered))
    .$if(alike !== undefined, (query) =>
      query.where(sql<boolean>`(coalesce(source_id, asset_id) = any(${alike}::uuid[]) or (sha256 <> '' and sha256 in (
        select sha256 from assets where assets.asset_id = any(${alike}::uuid[])
        union select known.sha256 from screening_incidents as known where known.asset_id = any(${alike}::uuid[])
      )))`),
    )
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(${byPriority ? sql`is_priority, ` : sql``}created_at, incident_id) <
          (${byPriority ? sql`${after?.isPriority === true}::boolean, ` : sql``}timestamptz 'epoch' + ${after?.createdAtUs}::bigint * interval '1 microsecond',
            ${after?.id}::uuid)`,
      ),
    )
    .$if(byPriority, (query) => query.orderBy('is_priority', 'desc'))
    .orderBy('created_at', 'desc')
    .orderBy('incident_id', 'desc')
    .limit(limit)
    .execute();
}

/** `undefined`: there is no such incident of screening. */
export function resolveIncident(
  db: Db<MediaTables>,
  id: string,
  resolution: 'upheld' | 'cleared',
  note: string | null,
): Promise<StoredIncident | undefined> {
  return db
    .updateTable('screening_incidents')
    .set({ status: resolution, resolved_at: sql<Date>`clock_timestamp()`, note })
    .where('incident_id', '=', id)
    .where('check_name', 'not in', ['report', 'flag'])
    .returning(incidentColumns)
    .executeTakeFirst();
}

/** Those of `paths` of a legacy bucket that an incident names as the origin of blocked bytes that are not cleared, or that are restricted. */
export async function findBlockedPaths(
  db: Db<MediaTables>,
  bucket: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const origins = paths.map((path) => `${bucket}/${path}`);
  const { rows } = await sql<{ readonly origin: string }>`
    select origin from screening_incidents where origin = any(${origins}::text[]) and not ${isClearedContent}
    union select bucket || '/' || storage_key from assets
    where backend = 'legacy' and bucket = ${bucket} and storage_key = any(${paths}::text[])
      and restricted_at is not null`.execute(db);
  return new Set(rows.map(({ origin }) => origin.slice(bucket.length + 1)));
}

async function writeIncident(
  db: Handle,
  change: RawBuilder<unknown>,
  finding: Finding,
): Promise<AssetFacts | undefined> {
  const { etag, digests, match, origin, evidenceUntil } = finding;
  const columns = sql.join(ofTheRow.map((column) => sql.ref(column)));
  const { rows } = await sql<AssetFacts>`
    with blocked as (${change} returning ${columns}),
    written as (
      insert into screening_incidents (
        ${columns}, etag, sha256, md5, pdq, pdq_quality, check_name, list, listed, distance, origin,
        evidence_until
      )
      select ${columns}, ${etag}::text, ${digests.sha256}::text, ${digests.md5}::text, ${digests.pdq}::text,
        ${digests.pdqQuality}::smallint, ${match.check}::text, ${match.list}::text, ${match.listed}::text,
        ${match.distance}::smallint, ${origin}::text, ${evidenceUntil ?? null}::timestamptz
      from blocked
      on conflict (asset_id, sha256, (check_name = 'label')) where check_name not in ('report', 'flag')
      do update set evidence_until = coalesce(excluded.evidence_until, screening_incidents.evidence_until)
    )
    select asset_id as "assetId", owner_id as "ownerId", scope_kind as "scopeKind", scope_id as "scopeId", kind
    from blocked`.execute(db);
  return rows[0];
}

// Appeals of owners, and the counts that operators see.

/** By the id of the incident or of the blocked asset: the newest of the owner. */
export function findOwnIncident(db: Db<MediaTables>, ownerId: string, id: string) {
  // The owner does not know about a report before a decision, or about a flag that changed nothing.
  const isKnown = sql<boolean>`(check_name not in ('report', 'flag') or decision is not null or exists (
    select from assets where assets.asset_id = screening_incidents.asset_id and restricted_at is not null
  ))`;
  return db
    .selectFrom('screening_incidents')
    .select(['incident_id as id', 'status'])
    .where('owner_id', '=', ownerId)
    .where((eb) => eb.or([eb('incident_id', '=', id), eb('asset_id', '=', id)]))
    .where(isKnown)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** `undefined`: there is an appeal already, or the incident is resolved. */
export async function writeAppeal(db: Db<MediaTables>, id: string, text: string): Promise<Date | undefined> {
  const row = await db
    .updateTable('screening_incidents')
    .set({ appeal: text, appealed_at: sql<Date>`clock_timestamp()` })
    .where('incident_id', '=', id)
    .where('appeal', 'is', null)
    .where('status', '<>', 'cleared')
    .returning('appealed_at as appealedAt')
    .executeTakeFirst();
  return row?.appealedAt ?? undefined;
}

export async function countIncidents(db: Db<MediaTables>): Promise<IncidentCounts> {
  const { rows } = await sql<IncidentCounts>`
    with counted as (select status, list, count(*)::int as count from screening_incidents group by status, list),
    sums as (select status, sum(count)::int as count from counted group by status),
    by_list as (select list, sum(count)::int as count from counted group by list)
    select coalesce((select count from sums where status = 'open'), 0) as open,
      coalesce((select count from sums where status = 'upheld'), 0) as upheld,
      coalesce((select count from sums where status = 'cleared'), 0) as cleared,
      (select count(*)::int from screening_incidents where ${isUnanswered}) as "openAppeals",
      coalesce((select jsonb_object_agg(list, count) from by_list), '{}') as lists`.execute(db);
  return rows[0] as IncidentCounts;
}

/** Where the same bytes may remain. */
export function findOrigin(db: Db<MediaTables>, id: string) {
  return db
    .selectFrom('screening_incidents')
    .select(['origin', 'asset_id as assetId', 'owner_id as ownerId'])
    .where('incident_id', '=', id)
    .executeTakeFirst();
}
