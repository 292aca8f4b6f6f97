/** `GET` and `PATCH /v1/assets/:assetId`: one asset (docs/specification/media.md#one-asset). */
import type { Caller } from '#platform/access/caller.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { Asset, AssetChange } from '../api.ts';
import { isAudio, isVideo, toAsset, toOthers } from '../assets/asset.ts';
import { changeFacts, findAsset, type StoredAsset } from '../assets/assetstore.ts';
import { mayRead } from '../assets/ownership.ts';
import { isImage } from '../assets/sizelimits.ts';
import type { MediaContext } from '../context.ts';
import { noSuchAsset } from '../problems.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';

/** Throws 404 if the asset does not exist, is not ready, or cannot be read by the caller. */
export async function readAsset(deps: MediaContext, caller: Caller, assetId: string): Promise<Asset> {
  const asset = toAsset(await findReadable(deps, caller, assetId));
  return caller.kind === 'user' && asset.ownerId !== caller.userId ? toOthers(asset) : asset;
}

/** Throws 404 as `readAsset`, 403 (another owner's, in a public scope) and 400 (a field that this asset does not have). */
export async function changeAsset(
  deps: MediaContext,
  caller: Caller,
  assetId: string,
  change: AssetChange,
): Promise<Asset> {
  const row = await findReadable(deps, caller, assetId);
  if (caller.kind === 'user' && row.ownerId !== caller.userId)
    throw problems.forbidden({ message: 'The asset belongs to another user.' });
  assertApplies(row, change);
  const changed = await withInvalidation(deps, [assetId], () => changeFacts(deps.db, row, change));
  if (changed === undefined) throw noSuchAsset();
  return toAsset(changed);
}

async function findReadable(deps: MediaContext, caller: Caller, assetId: string): Promise<StoredAsset> {
  const row = await findAsset(deps.db, assetId);
  if (!row?.readyAt || !mayRead(caller, row, deps.publicScopes)) throw noSuchAsset();
  return row;
}

const mediaFields = ['width', 'height', 'durationMs', 'blurhash'] as const;

/** The facts of images come from their bytes; other files have none. */
function assertApplies(row: StoredAsset, change: AssetChange): void {
  const hasImage = isImage(row.mime);
  if (change.thumbAssetId !== undefined && (hasImage || !isVideo(row)))
    throw invalid('body.thumbAssetId', 'can be set on videos only');
  if (!hasImage && (isVideo(row) || isAudio(row))) return;
  const field = mediaFields.find((name) => change[name] !== undefined);
  if (field !== undefined) throw invalid(`body.${field}`, 'can be set on video and audio only');
}
