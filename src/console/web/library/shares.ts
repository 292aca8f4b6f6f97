/** Links that anyone can open (docs/specification/media.md#shares). */
import type { Share, SharePage } from '../../../client/media/api.ts';
import { useStored } from '../shell/browser.ts';
import { notify } from '../shell/notices.ts';
import { useOwn, useOwnPages } from '../user.tsx';
import type { LibraryDialog } from './dialogs.ts';

export type { Share };

export type Shareable = Extract<LibraryDialog, { readonly kind: 'share' | 'share-thread' | 'share-album' }>;
export function targetOf(of: Shareable): Readonly<Record<string, string>> {
  if (of.kind === 'share') return { assetId: of.asset.assetId };
  return of.kind === 'share-album' ? { collectionId: of.collectionId } : { threadId: of.threadId };
}

/** The name on what the user shares. */
export const useAuthor = () => useStored('atelier.author');

/** `null`: it is not shared by a link. */
export function useShare(of: Shareable) {
  const target = targetOf(of);
  return useOwn<SharePage, Share | null>(['shares', target], 'media', `/v1/shares?${new URLSearchParams(target)}`, {
    select: ({ shares }) => shares[0] ?? null,
    staleTime: 0,
  });
}

/** Without the shares of published copies, which only hold what Explore shows. */
export const useShares = () =>
  useOwnPages<SharePage>(['shares', 'all'], 'media', '/v1/shares', { limit: '50', copies: 'false' });

export async function copyLink(url: string, done = 'The link is copied.'): Promise<void> {
  await navigator.clipboard.writeText(url);
  notify(done);
}

/** The dialog of the operating system, on devices that have one. */
export const canHandOn = (): boolean =>
  typeof navigator.share === 'function' && matchMedia('(pointer: coarse)').matches;
