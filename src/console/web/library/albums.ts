/** Favorites and albums, which the media service calls collections. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { AssetPage, Collection, Collections } from '../../../client/media/api.ts';
import { useUser } from '../user.tsx';
import { type Filters, filtersOf, queryOf, usePatch } from './assets.ts';
import { inLots } from './trash.ts';

export const itemsOf = (count: number): string => (count === 1 ? '1 item' : `${count} items`);

/** Last changed first. `q`: words of the title. */
export function useAlbums(q = '') {
  const user = useUser();
  return useQuery({
    queryKey: ['albums', user.id, q],
    queryFn: async ({ signal }) => {
      const query = q.trim() === '' ? '' : `?${new URLSearchParams({ q: q.trim() })}`;
      return (await user.json<Collections>('media', `/v1/collections${query}`, { signal })).collections;
    },
    placeholderData: (before) => before,
  });
}

export function useAlbum(collectionId: string) {
  const user = useUser();
  return useQuery({
    queryKey: ['albums', user.id, 'one', collectionId],
    queryFn: ({ signal }) => user.json<Collection>('media', `/v1/collections/${collectionId}`, { signal }),
    enabled: collectionId !== '',
  });
}

/** As many as one call lists. Only favorites are counted by them. */
export const mostCovers = 200;

/** The newest of what the filter shows. They are read again if `version` changes. */
export function useCover(filter: Partial<Filters>, version: string, limit = filter.isFavorite ? mostCovers : 4) {
  const user = useUser();
  return useQuery({
    queryKey: ['albums', user.id, 'cover', filter, version],
    queryFn: async ({ signal }) => {
      const query = queryOf({ ...filtersOf(''), ...filter }, '', limit);
      return (await user.json<AssetPage>('media', `/v1/assets?${query}`, { signal })).assets;
    },
    staleTime: 0,
  });
}

export interface AlbumCalls {
  create(title: string, assetIds?: readonly string[]): Promise<Collection>;
  change(collectionId: string, change: AlbumChange): Promise<Collection>;
  remove(collectionId: string): Promise<void>;
}

export interface AlbumChange {
  readonly title?: string;
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

/** One call takes at most this many assets. */
const mostAtOnce = 1000;

export function useAlbumCalls(): AlbumCalls {
  const user = useUser();
  const queries = useQueryClient();
  const reread = () => {
    void queries.invalidateQueries({ queryKey: ['albums', user.id] });
    void queries.invalidateQueries({
      queryKey: ['assets', user.id],
      predicate: ({ queryKey }) => Reflect.get(Object(queryKey[2]), 'album') !== '',
    });
  };
  const patch = (collectionId: string, json: object) =>
    user.json<Collection>('media', `/v1/collections/${collectionId}`, { method: 'PATCH', json });
  return {
    async create(title, assetIds = []) {
      const json = { title, assetIds: assetIds.slice(0, mostAtOnce) };
      const made = await user.json<Collection>('media', '/v1/collections', { method: 'POST', json });
      for (let start = mostAtOnce; start < assetIds.length; start += mostAtOnce)
        await patch(made.collectionId, { add: assetIds.slice(start, start + mostAtOnce) });
      reread();
      return made;
    },
    async change(collectionId, { add = [], remove = [], title }) {
      const longest = Math.max(add.length, remove.length, 1);
      let changed: Collection | undefined;
      for (let start = 0; start < longest; start += mostAtOnce) {
        const part = { add: add.slice(start, start + mostAtOnce), remove: remove.slice(start, start + mostAtOnce) };
        changed = await patch(collectionId, { ...part, ...(title !== undefined && { title }) });
      }
      reread();
      return changed as Collection;
    },
    async remove(collectionId) {
      await user.send('media', `/v1/collections/${collectionId}`, { method: 'DELETE' });
      reread();
    },
  };
}

/** Shows the change at once, and takes it back if the service refuses it. */
export function useFavorites(): (assetIds: readonly string[], favorite: boolean) => Promise<void> {
  const user = useUser();
  const queries = useQueryClient();
  const patch = usePatch();
  return useCallback(
    async (assetIds, favorite) => {
      patch(assetIds, { favorite });
      try {
        await inLots(assetIds, (ids) =>
          user.json('media', '/v1/favorites', { method: 'POST', json: { ids, favorite } }),
        );
      } catch (error) {
        patch(assetIds, { favorite: !favorite });
        throw error;
      }
      void queries.invalidateQueries({
        queryKey: ['assets', user.id],
        predicate: ({ queryKey }) => Reflect.get(Object(queryKey[2]), 'isFavorite') === true,
      });
    },
    [user, queries, patch],
  );
}
