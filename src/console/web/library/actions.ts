/** What a user can do with one or more assets. */
import { navigate } from 'wouter/use-browser-location';
import type { Asset, AssetPage } from '../../../client/media/api.ts';
import { startDraft } from '../studio/threads.ts';
import type { User } from '../user.tsx';
import { isVideo } from './assets.ts';
import { type ActionTarget, signDownload } from './downloading.ts';

/** In the state of the history: the asset was opened from a page of the console, so closing it leads back there. */
export const fromPage = { fromPage: true };

/** The same, and the lightbox steps through these assets instead of the library. */
export const fromAmong = (among: readonly string[]) => ({ ...fromPage, among });

/** The bytes as they were uploaded or made. The server sends them as an attachment, so the page stays. */
export async function downloadOriginal(user: User, asset: ActionTarget): Promise<void> {
  location.assign(await signDownload(user, asset));
}

/** A JPEG or an MP4 with the watermark. The first one of an asset takes a moment. */
export async function downloadWatermarked(user: User, asset: ActionTarget): Promise<void> {
  const path = isVideo(asset) ? '/v1/watermark-video' : '/v1/watermark';
  const download = `atelier-${asset.assetId.slice(0, 8)}-watermark.${isVideo(asset) ? 'mp4' : 'jpg'}`;
  const json = { ref: asset.assetId, download };
  const { url } = await user.json<{ readonly url: string }>('media', path, { method: 'POST', json });
  location.assign(url);
}

/** One file, or an archive of all. */
export async function downloadAll(user: User, assets: readonly Asset[]): Promise<void> {
  const [first] = assets;
  if (assets.length === 1 && first !== undefined) return downloadOriginal(user, first);
  const { downloadArchive } = await import('./archive.ts');
  await downloadArchive(user, assets);
}

const feed = { scopeKind: 'feed', scopeId: 'published' } as const;

/** The copies of the asset in the public feed. Two devices can have published it at the same time. */
export async function findPublished(user: User, { assetId }: ActionTarget): Promise<readonly Asset[]> {
  const query = new URLSearchParams({ scopeKind: feed.scopeKind, copiesOf: assetId, limit: '200' });
  const { assets } = await user.json<AssetPage>('media', `/v1/assets?${query}`);
  return assets;
}

/** Copies the asset to the public feed. */
export async function publish(
  user: User,
  { assetId }: ActionTarget,
  { showPrompt, author }: { readonly showPrompt: boolean; readonly author: string },
): Promise<Asset> {
  const asset = await user.json<Asset>('media', `/v1/assets/${assetId}`);
  const to = { toScopeKind: feed.scopeKind, toScopeId: feed.scopeId };
  const copy = (fromAssetId: string, more: object = {}) =>
    user.json<Asset>('media', '/v1/copy', { method: 'POST', json: { fromAssetId, ...to, ...more } });
  // A video has its own thumbnail.
  const thumb = asset.thumbAssetId === null ? undefined : await copy(asset.thumbAssetId);
  const published = await copy(assetId, thumb && { thumbAssetId: thumb.assetId });
  // The gallery shows a prompt and a name only if a share of the copy does.
  if (showPrompt || author !== '') {
    const json = { assetId: published.assetId, showPrompt, ...(author !== '' && { author }) };
    await user.json('media', '/v1/shares', { method: 'POST', json });
  }
  return published;
}

/** It takes a painted part and words. */
export const openEditor = ({ assetId }: ActionTarget) =>
  navigate(`/library/${assetId}`, { state: { ...fromPage, isEditing: true } });
export const referInStudio = (asset: ActionTarget) => startDraft({ assetIds: [asset.assetId], text: '' });
