/** The rows of copies: read as sources, drafted, marked ready, given up. The only SQL of copying. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import {
  type AssetFacts,
  type AssetIdentity,
  type AssetPlace,
  assetColumns,
  dropUnready,
  type MediaTables,
  signingColumns,
} from '../assets/assetstore.ts';
import { type BlockedAsset, blockAsset, type Finding } from '../screening/incidentstore.ts';

type Handle = Db<MediaTables> | Tx<MediaTables>;

/** A ready asset, with what a copy of it takes along. */
export function findCopySource(db: Handle, assetId: string) {
  return db
    .selectFrom('assets')
    .select([
      ...signingColumns,
      'kind',
      'sha256',
      'md5',
      'pdq',
      'pdq_quality as pdqQuality',
      'screened_at as screenedAt',
    ])
    .where('asset_id', '=', assetId)
    .where('ready_at', 'is not', null)
    .executeTakeFirst();
}

/** The etag of a row whose object is not written yet: no object has it. */
const unwritten = '';

/**
 * Writes the row of a copy that is under way. `false`, and nothing is written: `sourceId` is no asset any more. The source's
 * row is held until this one is there, so that a deletion which has dropped the source's finds it.
 */
export async function draftCopy(
  db: Handle,
  sourceId: string | undefined,
  identity: AssetIdentity,
  { bucket, storageKey, byteSize }: Omit<AssetPlace, 'etag'>,
): Promise<boolean> {
  const { assetId, ownerId, scopeKind, scopeId, kind, requestedMime } = identity;
  const ifSourceStands =
    sourceId === undefined ? sql`` : sql`from assets where asset_id = ${sourceId}::uuid for key share`;
  const { numAffectedRows } = await sql`
    insert into assets (
      asset_id, owner_id, scope_kind, scope_id, kind, requested_mime, mime, backend, bucket, storage_key, etag, byte_size
    )
    select ${assetId}::uuid, ${ownerId}::uuid, ${scopeKind}::text, ${scopeId}::text, ${kind}::text,
      ${requestedMime}::text, ${requestedMime}::text, 'objects', ${bucket}::text, ${storageKey}::text,
      ${unwritten}::text, ${byteSize}::bigint
    ${ifSourceStands}`.execute(db);
  return numAffectedRows === 1n;
}

/** From here on the copy can be read; `isScreened`: it is a picture that passed. `undefined`: its row is gone. */
export function markCopied(
  db: Handle,
  assetId: string,
  { etag, byteSize }: Pick<AssetPlace, 'etag' | 'byteSize'>,
  facts: AssetFacts,
  isScreened: boolean,
) {
  return db
    .updateTable('assets')
    .set({
      etag,
      byte_size: byteSize,
      mime: facts.mime,
      sha256: facts.sha256,
      md5: facts.md5,
      pdq: facts.pdq,
      pdq_quality: facts.pdqQuality,
      screened_at: isScreened ? sql<Date>`now()` : null,
      width: facts.width,
      height: facts.height,
      duration_ms: facts.durationMs,
      blurhash: facts.blurhash,
      thumb_asset_id: facts.thumbAssetId,
      ready_at: sql<Date>`now()`,
    })
    .where('asset_id', '=', assetId)
    .where('etag', '=', unwritten)
    .where('ready_at', 'is', null)
    .where('refusal', 'is', null)
    .returning(assetColumns)
    .executeTakeFirst();
}

/** From here on the copy can never be read, as `blockAsset` says; what a process leaves of it is found as of any other. */
export function blockCopy(db: Handle, assetId: string, finding: Finding): Promise<BlockedAsset | undefined> {
  return blockAsset(db, { assetId, etag: unwritten }, finding);
}

/** From here on the copy cannot be read, and is under way again. */
export async function withdrawCopy(db: Handle, assetId: string): Promise<void> {
  await db
    .updateTable('assets')
    .set({ ready_at: null, screened_at: null, etag: unwritten })
    .where('asset_id', '=', assetId)
    .execute();
}

/** Takes back the row of a copy that never became ready. */
export function dropCopy(db: Handle, assetId: string): Promise<void> {
  return dropUnready(db, assetId, unwritten);
}
