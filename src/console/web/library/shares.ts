/** Links that anyone can open (docs/specification/media.md#shares). */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Share, SharePage } from '../../../client/media/api.ts';
import { notify } from '../shell/notices.ts';
import { useUser } from '../user.tsx';
import type { LibraryDialog } from './dialogs.ts';

export type { Share };

export type Shareable = Extract<LibraryDialog, { readonly kind: 'share' | 'share-thread' | 'share-album' }>;
export function targetOf(of: Shareable): Readonly<Record<string, string>> {
  if (of.kind === 'share') return { assetId: of.asset.assetId };
  return of.kind === 'share-album' ? { collectionId: of.collectionId } : { threadId: of.threadId };
}

const authorKey = 'atelier.author';

/** The name on what the user shares. It is stored in this browser. */
export function useAuthor(): readonly [string, (author: string) => void] {
  const [author, setAuthor] = useState(() => localStorage.getItem(authorKey) ?? '');
  const change = (next: string) => {
    localStorage.setItem(authorKey, next.trim());
    setAuthor(next);
  };
  return [author, change];
}

/** `null`: it is not shared by a link. */
export function useShare(of: Shareable) {
  const user = useUser();
  const target = targetOf(of);
  return useQuery({
    queryKey: ['shares', user.id, target],
    queryFn: async ({ signal }) => {
      const { shares } = await user.json<SharePage>('media', `/v1/shares?${new URLSearchParams(target)}`, { signal });
      return shares[0] ?? null;
    },
    staleTime: 0,
  });
}

/** Without the shares of published copies, which only hold what Explore shows. */
export function useShares() {
  const user = useUser();
  return useInfiniteQuery({
    queryKey: ['shares', user.id, 'all'],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: '50', copies: 'false', ...(pageParam && { cursor: pageParam }) });
      return user.json<SharePage>('media', `/v1/shares?${query}`, { signal });
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

export function useRereadShares(): () => Promise<void> {
  const user = useUser();
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['shares', user.id] });
}

export async function copyLink(url: string, done = 'The link is copied.'): Promise<void> {
  await navigator.clipboard.writeText(url);
  notify(done);
}

/** The dialog of the operating system, on devices that have one. */
export const canHandOn = (): boolean =>
  typeof navigator.share === 'function' && matchMedia('(pointer: coarse)').matches;
