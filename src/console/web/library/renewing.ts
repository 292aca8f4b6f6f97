/** Brings the pages of a listing up to date without reading them all. */
import type { InfiniteData } from '@tanstack/react-query';
import type { Asset, AssetPage } from '../../../client/media/api.ts';

export type Pages = InfiniteData<AssetPage, string>;

/** Takes over what the newest page shows. If the pages do not meet, the newest page is all that is certain. */
export function renew(data: Pages, newest: AssetPage): Pages {
  const fresh = new Map(newest.assets.map((asset) => [asset.assetId, asset]));
  const known = new Set(data.pages.flatMap(({ assets }) => assets.map(({ assetId }) => assetId)));
  const added = newest.assets.filter(({ assetId }) => !known.has(assetId));
  const oldest = newest.nextCursor === null ? '' : (newest.assets.at(-1)?.createdAt ?? '');
  if (newest.nextCursor !== null && added.length === newest.assets.length) return { pages: [newest], pageParams: [''] };
  // Gone: the newest page would show it.
  const stays = ({ assetId, createdAt }: Asset) => fresh.has(assetId) || createdAt <= oldest;
  const pages = data.pages.map((page, place) => ({
    ...page,
    assets: [
      ...(place === 0 ? added : []),
      ...page.assets.filter(stays).map((asset) => fresh.get(asset.assetId) ?? asset),
    ],
  }));
  return { ...data, pages };
}
