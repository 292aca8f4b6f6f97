/** Assets written straight into the engines, for tests that need many, or such as no registration makes. */
import { randomUUID } from 'node:crypto';
import { storageKeyOf } from '#media/assets/storagekey.ts';
import type { MediaTables } from '#media/tables.ts';
import type { Database } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';

/** Where assets are planted: a MediaRig is one. */
export interface Ground {
  readonly database: Database;
  readonly originals: Objects;
  /** The default owner of the assets. */
  readonly userId?: string;
}

export interface Planted {
  readonly assetId: string;
  readonly storageKey: string;
}

export interface PlantOptions {
  readonly ownerId?: string;
  readonly scopeKind?: string;
  readonly scopeId?: string;
  readonly mime?: string;
  readonly thumbAssetId?: string;
  readonly backend?: 'objects' | 'legacy';
  readonly bucket?: string;
  readonly isReady?: boolean;
  /** Of each object. */
  readonly bytes?: Uint8Array;
  /** Of `bytes`, where the row has a digest. */
  readonly sha256?: string;
  /** Beside the object: endings such as `.wm.jpg`. */
  readonly beside?: readonly string[];
}

export async function plant(ground: Ground, count: number, options: PlantOptions = {}): Promise<readonly Planted[]> {
  const {
    ownerId = ground.userId ?? randomUUID(),
    scopeKind = 'thread',
    scopeId = '1',
    mime = 'image/png',
    beside = [],
    bytes = Buffer.from('x'),
  } = options;
  const planted = Array.from({ length: count }, () => {
    const assetId = randomUUID();
    return { assetId, storageKey: storageKeyOf({ ownerId, scopeKind, scopeId, assetId, mime }) };
  });
  const keys = planted.flatMap(({ storageKey }) => ['', ...beside].map((ending) => storageKey + ending));
  const etags = new Map<string, string>();
  for (let start = 0; start < keys.length; start += 32) {
    const puts = keys
      .slice(start, start + 32)
      .map(async (key) =>
        etags.set(key, (await ground.originals.put(key, bytes, { contentType: mime, size: bytes.length })).etag),
      );
    await Promise.all(puts);
  }
  const rows = planted.map(({ assetId, storageKey }) => ({
    asset_id: assetId,
    owner_id: ownerId,
    scope_kind: scopeKind,
    scope_id: scopeId,
    kind: 'image',
    requested_mime: mime,
    mime,
    backend: options.backend ?? 'objects',
    bucket: options.bucket ?? ground.originals.bucket,
    storage_key: storageKey,
    etag: etags.get(storageKey) ?? '',
    byte_size: bytes.length,
    sha256: options.sha256 ?? null,
    thumb_asset_id: options.thumbAssetId ?? null,
    ready_at: options.isReady === false ? null : new Date(),
  }));
  await ground.database.queries<MediaTables>().insertInto('assets').values(rows).execute();
  return planted;
}

/** Which of these still have a row, and which keys of theirs still have an object. */
export async function remaining(ground: Ground, planted: readonly Planted[]) {
  const rows = await ground.database
    .queries<MediaTables>()
    .selectFrom('assets')
    .select('asset_id as assetId')
    .where(
      'asset_id',
      'in',
      planted.map(({ assetId }) => assetId),
    )
    .execute();
  const keys = planted.flatMap(({ storageKey }) => [storageKey, `${storageKey}.wm.jpg`, `${storageKey}.wm.mp4`]);
  const heads = await Promise.all(keys.map((key) => ground.originals.head(key)));
  return { rows: rows.length, objects: heads.filter((head) => head !== undefined).length };
}
