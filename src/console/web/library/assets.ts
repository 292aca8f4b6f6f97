/** The assets of the user, as the pages of the library show them. */
import { keepPreviousData, type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { Asset, AssetPage } from '../../../client/media/api.ts';
import strengths from '../../../platform/strengths.json' with { type: 'json' };
import { momentOf } from '../parts/figures.tsx';
import { fromSearch, toSearch } from '../shell/page.ts';
import { type User, useOwn, useOwnPages, useUser } from '../user.tsx';
import { type Pages, renew } from './renewing.ts';

export const isVideo = ({ mime }: Pick<Asset, 'mime'>) => mime.startsWith('video/');
export const isImage = ({ mime }: Pick<Asset, 'mime'>) => mime.startsWith('image/');
export const wordOf = (asset: Pick<Asset, 'mime'>) => (isVideo(asset) ? 'Video' : isImage(asset) ? 'Image' : 'File');

/** For assistive technology: the name of the file, the prompt, or the time of creation. */
export function nameOf(asset: Asset): string {
  // The tile of a file shows its name or its type, so its label begins with that.
  if (!isImage(asset) && !isVideo(asset))
    return `${asset.name ?? asset.mime.split('/')[1]} file from ${momentOf(asset.createdAt)}`;
  if (asset.name !== null) return `${wordOf(asset)}: ${asset.name}`;
  return asset.prompt === null
    ? `${wordOf(asset)} from ${momentOf(asset.createdAt)}`
    : `${wordOf(asset)}: ${promptOf(asset)?.slice(0, 120)}`;
}

/** The words of the user, and the strength, which the end of the prompt expresses (docs/generation.md#variations-and-motion). */
export function splitPrompt(prompt: string, kind: keyof typeof strengths = 'image') {
  const strength = (['subtle', 'strong'] as const).find((one) => prompt.endsWith(strengths[kind][one]));
  const end = strength === undefined ? 0 : strengths[kind][strength].length;
  return { strength, prompt: prompt.slice(0, prompt.length - end).trim() };
}

/** Of an asset or an order, in the words of the user. Without any, the strength is shown. */
export const promptOf = <Prompt extends string | null>({ prompt, kind }: { prompt: Prompt; kind: string }) =>
  prompt && (splitPrompt(prompt, kind === 'video' ? kind : 'image').prompt || prompt);

const day = /^\d{4}-\d\d-\d\d$/;
const allowed = {
  type: /^(?:image|video|other)$/,
  /** Words of the prompt or the name. */
  q: /./,
  /** Days in the time zone of the browser, both included. */
  from: day,
  to: day,
  shared: /^1$/,
  favorites: /^1$/,
  /** The id of a collection. */
  album: /./,
  /** The id of a collection that the user selects for. It changes only what a selection does. */
  addTo: /./,
  sort: /^oldest$/,
};

export type Filters = ReturnType<typeof filtersOf>;
export const filtersOf = (search: string) => fromSearch(allowed, search);

/** As many as one call can sign. */
const pageSize = 200;

/** What a listing shows. */
export type Shown = Partial<Filters> & { readonly trashed?: 'true' };

/** Of the service. Empty values count as absent. */
export function queryOf(filters: Shown, limit = pageSize): Readonly<Record<string, string>> {
  const { type = '', q = '', from, to, shared, favorites, album = '', sort = '', trashed = '' } = filters;
  const dayAfter = new Date(`${to}T00:00`);
  dayAfter.setDate(dayAfter.getDate() + 1);
  return {
    limit: String(limit),
    thumbnails: 'false',
    type,
    sort,
    trashed,
    collectionId: album,
    q: q.trim().split(/\s+/).slice(0, 10).join(' '),
    ...(from && { createdFrom: new Date(`${from}T00:00`).toISOString() }),
    ...(to && { createdBefore: dayAfter.toISOString() }),
    // An album has copies only if the user has added them.
    ...(shared ? { scopeKind: 'feed' } : album === '' && { copies: 'false' }),
    ...(favorites && { favorite: 'true' }),
  };
}

/** Page by page. While a filter changes, the earlier assets stay. */
export const useAssets = (filters: Shown) =>
  useOwnPages<AssetPage>(['assets', filters], 'media', '/v1/assets', queryOf(filters), {
    placeholderData: keepPreviousData,
    // A library of thousands of pages is never read again as a whole: `useNewAssets` reads its first page.
    staleTime: Number.POSITIVE_INFINITY,
  });

/** One asset, for its own URL. `known`: the library has it already. */
export const useAsset = (assetId: string | undefined, known?: Asset) =>
  useOwn<Asset>(['asset', assetId], 'media', `/v1/assets/${assetId}`, {
    enabled: assetId !== undefined && known === undefined,
    ...(known && { initialData: known }),
  });

/** Reads only the newest page again, which is where new and changed assets appear. */
export function useNewAssets(): () => Promise<void> {
  const queries = useQueryClient();
  const user = useUser();
  return useCallback(() => readNewest(queries, user), [queries, user]);
}

export async function readNewest(
  queries: QueryClient,
  user: User,
  predicate: (query: Query) => boolean = () => true,
): Promise<void> {
  for (const { queryKey, state } of queries.getQueryCache().findAll({ queryKey: ['assets', user.id], predicate })) {
    if (state.data === undefined) continue;
    const filters = queryKey[2] as Shown;
    if (filters.sort === 'oldest') {
      // Its new assets are on the last page.
      await queries.invalidateQueries({ queryKey, exact: true });
      continue;
    }
    const newest = await user.json<AssetPage>('media', `/v1/assets${toSearch(queryOf(filters))}`);
    queries.setQueryData<Pages>(queryKey, (data) => data && renew(data, newest));
  }
}

/** Changes what the cache has of assets, before or after the service does. */
export function useCached() {
  const queries = useQueryClient();
  const user = useUser();
  const inListings = (change: (assets: readonly Asset[]) => readonly Asset[]) =>
    queries.setQueriesData<Pages>(
      { queryKey: ['assets', user.id] },
      (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, assets: change(page.assets) })) },
    );
  return {
    patch(assetIds: readonly string[], change: Partial<Asset>): void {
      const changed = new Set(assetIds);
      const patch = (asset: Asset) => (changed.has(asset.assetId) ? { ...asset, ...change } : asset);
      inListings((assets) => assets.map(patch));
      queries.setQueriesData<Asset>({ queryKey: ['asset', user.id] }, (asset) => asset && patch(asset));
    },
    /** Takes assets out of every listing. */
    forget(assetIds: readonly string[]): void {
      const gone = new Set(assetIds);
      inListings((assets) => assets.filter(({ assetId }) => !gone.has(assetId)));
    },
    /** Reads the listings again that have this filter. */
    async reread(filter: keyof Filters): Promise<void> {
      const isFiltered = ({ queryKey: [, , shown] }: Query) => Boolean((shown as Shown)[filter]);
      await queries.invalidateQueries({ queryKey: ['assets', user.id], predicate: isFiltered });
    },
    /** For conversations and the page "Create", which show where an asset is. */
    markTrashed(assetIds: readonly string[], trashed: boolean): void {
      const mark = (signed?: object) => signed && { ...signed, trashed };
      for (const kind of ['image', 'video'])
        for (const assetId of assetIds) queries.setQueryData(['signed', user.id, kind, assetId], mark);
    },
  };
}
