/** Signed URLs of assets. One call signs all that are needed at the same time. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Asset, ImageSignedRef, VideoSignedRef } from '../../../client/media/api.ts';
import { batching } from '../parts/server.ts';
import { type User, useUser } from '../user.tsx';

type Kind = 'image' | 'video';
type Ready<Ref> = Omit<Extract<Ref, { readonly ready: true }>, 'ready'>;
export type Signed = { readonly ready: boolean } & Partial<Ready<ImageSignedRef> & Ready<VideoSignedRef>>;

const signing = (kind: Kind) =>
  batching(200, (refs, user: User) =>
    user.json<Readonly<Record<string, Signed>>>('media', `/v1/sign/${kind}`, { method: 'POST', json: { refs } }),
  );
const sign = { image: signing('image'), video: signing('video') };

export const signImage = async (user: User, assetId: string): Promise<string | undefined> =>
  (await sign.image(assetId, user))?.thumbUrl;

export function signedQuery(user: User, kind: Kind, assetId: string) {
  return {
    queryKey: ['signed', user.id, kind, assetId],
    queryFn: async (): Promise<Signed> => (await sign[kind](assetId, user)) ?? { ready: false },
    // URLs are valid for days.
    staleTime: 3_600_000,
  };
}

export function useSigned(kind: Kind, assetId: string | null) {
  const user = useUser();
  return useQuery({ ...signedQuery(user, kind, assetId ?? ''), enabled: assetId !== null });
}

/** Assets that are signed together, so that scrolling needs few calls. */
const blockSize = 100;

/** Signs the assets around those that are shown. */
export function useSignAhead(assets: readonly Asset[], first: number, last: number): void {
  const user = useUser();
  const queries = useQueryClient();
  const from = Math.max(0, Math.floor(first / blockSize) - 1) * blockSize;
  const to = (Math.floor(last / blockSize) + 2) * blockSize;
  useEffect(() => {
    for (const asset of assets.slice(from, to)) {
      const kind = asset.mime.startsWith('video/') ? 'video' : 'image';
      const query = signedQuery(user, kind, asset.assetId);
      if (queries.getQueryState(query.queryKey) === undefined) void queries.prefetchQuery(query);
    }
  }, [assets, from, to, user, queries]);
}
