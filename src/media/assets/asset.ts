/** Converts rows of assets to responses. */
import { uuidOfName } from '#platform/ids.ts';
import type { Asset } from '../api.ts';
import type { AssetIdentity, StoredAsset } from './assetstore.ts';

/** Returns whether a row was registered with `identity`. Otherwise it is another asset. */
export function isSameAsset(row: StoredAsset, identity: AssetIdentity): boolean {
  return (
    row.ownerId === identity.ownerId &&
    row.scopeKind === identity.scopeKind &&
    row.scopeId === identity.scopeId &&
    row.kind === identity.kind &&
    row.requestedMime === identity.requestedMime
  );
}

export function isVideo({ kind, mime }: { readonly kind: string; readonly mime: string }): boolean {
  return kind === 'video' || mime.startsWith('video/');
}

export function isAudio({ kind, mime }: { readonly kind: string; readonly mime: string }): boolean {
  return kind === 'audio' || mime.startsWith('audio/');
}

/** The kind of an asset without a declared one: `image`, `video`, `audio`, or `file`. */
export function kindOfMime(mime: string): string {
  return /^(image|video|audio)\//.exec(mime)?.[1] ?? 'file';
}

/** The id of a video's poster. Derived, so that every attempt makes the same asset. */
export function posterIdOf(assetId: string): string {
  return uuidOfName(assetId, 'poster');
}

/** An asset as readers other than its owner see it: without how it was made, and what it is to its owner. */
export const toOthers = (asset: Asset): Asset => ({
  ...asset,
  prompt: null,
  model: null,
  name: null,
  favorite: false,
  published: false,
  generation: null,
  labels: [],
});

export function toAsset({ requestedMime, etag, readyAt, restrictedAt, refusal, ...row }: StoredAsset): Asset {
  return {
    ...row,
    labels: [...(row.labels ?? [])],
    createdAt: row.createdAt.toISOString(),
    trashedAt: row.trashedAt?.toISOString() ?? null,
  };
}
