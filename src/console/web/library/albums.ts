/** Favorites and albums, which the media service calls collections. */
import { keepPreviousData } from '@tanstack/react-query';
import type { AssetPage, Collection, CollectionChange, Collections } from '../../../client/media/api.ts';
import { toSearch } from '../shell/page.ts';
import { useOwn, useReread, useUser } from '../user.tsx';
import { queryOf, type Shown, useCached } from './assets.ts';
import { inLots } from './trash.ts';

/** In the order that this browser showed last, or in a new one. */
export function linkOfAlbum(collectionId: string, order?: string): string {
  const key = `atelier.order.${collectionId}`;
  if (order !== undefined) localStorage.setItem(key, order);
  return `/library?album=${collectionId}${localStorage.getItem(key) ? '&sort=oldest' : ''}`;
}

/** Last changed first. `q`: words of the title. */
export function useAlbums(q = '') {
  const path = `/v1/collections${toSearch({ q: q.trim() })}`;
  return useOwn<Collections, Collections['collections']>(['albums', q], 'media', path, {
    select: ({ collections }) => collections,
    placeholderData: keepPreviousData,
  });
}

export const useAlbum = (collectionId: string) =>
  useOwn<Collection>(['albums', 'one', collectionId], 'media', `/v1/collections/${collectionId}`);

/** The first page of what the filter shows. */
export function useNewest(filter: Shown, limit: number) {
  const path = `/v1/assets${toSearch(queryOf(filter, limit))}`;
  return useOwn<AssetPage>(['albums', 'newest', filter], 'media', path, { staleTime: 0 });
}

export const coverOf = ({ coverAssetId, coverMime }: Collection) =>
  coverAssetId === null ? undefined : { assetId: coverAssetId, mime: coverMime ?? '' };

/** One call takes at most this many assets. */
const mostAtOnce = 1000;

export function useAlbumCalls() {
  const user = useUser();
  const rereadAlbums = useReread();
  const cached = useCached();
  const reread = () => {
    void rereadAlbums('albums');
    void cached.reread('album');
  };
  const patch = (collectionId: string, json: object) =>
    user.json<Collection>('media', `/v1/collections/${collectionId}`, { method: 'PATCH', json });
  return {
    async create(title: string, assetIds: readonly string[] = []): Promise<Collection> {
      const json = { title, assetIds: assetIds.slice(0, mostAtOnce) };
      const made = await user.json<Collection>('media', '/v1/collections', { method: 'POST', json });
      await inLots(assetIds.slice(mostAtOnce), (add) => patch(made.collectionId, { add }));
      reread();
      return made;
    },
    async change(collectionId: string, { add, remove, ...more }: CollectionChange): Promise<Collection> {
      const [added, removed] = [add ?? [], remove ?? []];
      const longest = Math.max(added.length, removed.length, 1);
      let changed: Collection | undefined;
      for (let start = 0; start < longest; start += mostAtOnce) {
        const part = { add: added.slice(start, start + mostAtOnce), remove: removed.slice(start, start + mostAtOnce) };
        changed = await patch(collectionId, { ...part, ...more });
      }
      reread();
      return changed as Collection;
    },
    async remove(collectionId: string): Promise<void> {
      await user.send('media', `/v1/collections/${collectionId}`, { method: 'DELETE' });
      reread();
    },
  };
}

/** Shows the change at once, and takes it back if the service refuses it. */
export function useFavorites(): (assetIds: readonly string[], favorite: boolean) => Promise<void> {
  const user = useUser();
  const { patch, reread } = useCached();
  return async (assetIds, favorite) => {
    patch(assetIds, { favorite });
    try {
      await inLots(assetIds, (ids) => user.json('media', '/v1/favorites', { method: 'POST', json: { ids, favorite } }));
    } catch (error) {
      patch(assetIds, { favorite: !favorite });
      throw error;
    }
    void reread('favorites');
  };
}
