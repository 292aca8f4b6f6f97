/** The rows of copies, from the source to the ready asset. */
import { sql } from 'kysely';
import { inCamelCase, type Tx } from '#platform/db/db.ts';
import * as assets from '../assets/assetstore.ts';
import { flagAsset } from '../screening/incidentstore.ts';
import type { Handle, MediaTables, Playback } from '../tables.ts';

/** A ready asset, with the facts that a copy inherits. */
export function findCopySource(db: Handle, assetId: string) {
  return db
    .selectFrom('assets')
    .select([
      ...assets.signingColumns,
      ...inCamelCase('kind sha256 md5 pdq pdq_quality screened_at prompt model name generation labels'),
    ])
    .where('asset_id', '=', assetId)
    .where('ready_at', 'is not', null)
    .executeTakeFirst();
}

/** The ETag of a row whose object is not written yet. No object has it. */
export const unwritten = '';

/**
 * Writes the row of a copy that is in progress. Writes nothing and returns `false` if `sourceId` is no asset any more.
 * Locks the source's row until this one exists, so that a deletion which has deleted the source's row finds it.
 */
export async function draftCopy(
  db: Handle,
  sourceId: string | undefined,
  identity: assets.AssetIdentity,
  { bucket, storageKey, byteSize }: Omit<assets.AssetPlace, 'etag'>,
): Promise<boolean> {
  const { assetId, ownerId, scopeKind, scopeId, kind, requestedMime } = identity;
  const ifSourceStands =
    sourceId === undefined ? sql`` : sql`from assets where asset_id = ${sourceId}::uuid for key share`;
  const origin =
    sourceId === undefined
      ? sql`null`
      : sql`case when owner_id = ${ownerId}::uuid then coalesce(copied_from, asset_id) end`;
  const { numAffectedRows } = await sql`
    insert into assets (
      asset_id, owner_id, scope_kind, scope_id, kind, requested_mime, mime, backend, bucket, storage_key, etag, byte_size,
      copied_from
    )
    select ${assetId}::uuid, ${ownerId}::uuid, ${scopeKind}::text, ${scopeId}::text, ${kind}::text,
      ${requestedMime}::text, ${requestedMime}::text, 'objects', ${bucket}::text, ${storageKey}::text,
      ${unwritten}::text, ${byteSize}::bigint, ${origin}
    ${ifSourceStands}`.execute(db);
  return numAffectedRows === 1n;
}

/** Makes the copy readable. `undefined`: its row was deleted. */
export async function markCopied(
  tx: Tx<MediaTables>,
  assetId: string,
  { etag, byteSize }: Pick<assets.AssetPlace, 'etag' | 'byteSize'>,
  facts: assets.AssetFacts & { readonly playback: Playback | null },
  screened: assets.Screened,
) {
  const row = await tx
    .updateTable('assets')
    .set({
      etag,
      byte_size: byteSize,
      ...assets.factColumns(facts),
      screened_at: screened.isScreened ? sql<Date>`now()` : null,
      ...assets.labelColumns(screened, assets.restrictedAgain(sql`${facts.sha256}::text`)),
      playback: facts.playback,
      ready_at: sql<Date>`now()`,
    })
    .where((eb) => eb.and({ asset_id: assetId, etag: unwritten }))
    .where('ready_at', 'is', null)
    .where('refusal', 'is', null)
    .returning(assets.assetColumns)
    .executeTakeFirst();
  if (row !== undefined && screened.hit !== undefined) await flagAsset(tx, assetId, screened.hit.label);
  return row;
}

/** Makes the copy unreadable and in progress again. */
export async function withdrawCopy(db: Handle, assetId: string): Promise<void> {
  await db
    .updateTable('assets')
    .set({ ready_at: null, screened_at: null, etag: unwritten })
    .where('asset_id', '=', assetId)
    .execute();
}
