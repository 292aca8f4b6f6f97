/** The rows that a decision changes. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import { isCopyOf } from '../assets/assetstore.ts';
import { isUnanswered } from '../screening/incidentstore.ts';
import type { MediaTables } from '../tables.ts';
import type { Decision } from './api.ts';

type Handle = Tx<MediaTables>;

/** Locked until the transaction ends. */
export function lockIncident(tx: Handle, id: string) {
  return tx
    .selectFrom('screening_incidents')
    .select([
      'incident_id as id',
      'check_name as check',
      'asset_id as assetId',
      'owner_id as ownerId',
      'kind',
      'thread_id as threadId',
      'share_id as shareId',
      'source_id as sourceId',
      'decision',
      'statement',
      'status',
      isUnanswered.as('isAppealed'),
    ])
    .where('incident_id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export type DecidableIncident = NonNullable<Awaited<ReturnType<typeof lockIncident>>>;

export async function writeDecision(tx: Handle, id: string, decision: Decision, statement: string): Promise<void> {
  await tx
    .updateTable('screening_incidents')
    .set({
      decision,
      statement,
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
      'asset_id as assetId',
      'kind',
      'decision',
      'statement',
      'resolved_at as resolvedAt',
      'appealed_at as appealedAt',
      isUnanswered.as('isAppealed'),
    ])
    .where('owner_id', '=', ownerId)
    .where('decision', 'is not', null)
    .orderBy('resolved_at', 'desc')
    .limit(limit)
    .execute();
}

/** The content that a decision is about, also if the reported copy is gone. */
export async function contentOf(tx: Handle, incident: DecidableIncident): Promise<readonly string[]> {
  const { assetId, sourceId, ownerId, threadId } = incident;
  if (assetId === null) return mediaOfThread(tx, ownerId, String(threadId));
  return sourceId === null ? [assetId] : [assetId, sourceId];
}

/** The media that a shared conversation shows, and nothing if it is no longer shared. */
async function mediaOfThread(tx: Handle, ownerId: string, threadId: string): Promise<readonly string[]> {
  const row = await tx
    .selectFrom('shares')
    .select('snapshot')
    .where('owner_id', '=', ownerId)
    .where('thread_id', '=', threadId)
    .executeTakeFirst();
  const parts = row?.snapshot?.messages.flatMap((message) => message.parts) ?? [];
  return [...new Set(parts.flatMap((part) => (part.type === 'media' ? [part.assetId] : [])))];
}

const affectedColumns = ['asset_id as assetId', 'backend', 'bucket', 'storage_key as storageKey'] as const;

/** The ready assets of the owner among `assetIds`, all their copies, and the posters of its videos. */
export async function findAffected(tx: Handle, ownerId: string, assetIds: readonly string[]) {
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

/** Only the owner can read them from now on, and their pages end. */
export async function restrictAssets(tx: Handle, assetIds: readonly string[]): Promise<void> {
  await sql`
    update assets set restricted_at = coalesce(restricted_at, now()), version = version + 1
    where asset_id = any(${assetIds}::uuid[])`.execute(tx);
  await sql`delete from shares where asset_id = any(${assetIds}::uuid[])`.execute(tx);
}

export async function releaseAssets(tx: Handle, assetIds: readonly string[]): Promise<void> {
  await sql`
    update assets set restricted_at = null, version = version + 1
    where asset_id = any(${assetIds}::uuid[]) and restricted_at is not null`.execute(tx);
}

export async function endShareOfThread(tx: Handle, ownerId: string, threadId: string): Promise<void> {
  await tx.deleteFrom('shares').where('owner_id', '=', ownerId).where('thread_id', '=', threadId).execute();
}

/** Moves a row to the bytes at `key`. `false`: it has changed since. */
export async function moveAsset(
  db: Db<MediaTables>,
  {
    assetId,
    from,
    key,
    etag,
  }: { readonly assetId: string; readonly from: string; readonly key: string; readonly etag: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('assets')
    .set({ storage_key: key, etag, version: sql<number>`version + 1` })
    .where('asset_id', '=', assetId)
    .where('storage_key', '=', from)
    .where('ready_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
