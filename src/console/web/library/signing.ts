/** Signed URLs of assets. One call signs all that are needed at the same time. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Asset, ImageSignedRef, VideoSignedRef } from '../../../client/media/api.ts';
import { type User, useUser } from '../user.tsx';

type Kind = 'image' | 'video';
type Ready<Ref> = Omit<Extract<Ref, { readonly ready: true }>, 'ready'>;
export type Signed = { readonly ready: boolean } & Partial<Ready<ImageSignedRef> & Ready<VideoSignedRef>>;

interface Batch {
  readonly refs: Set<string>;
  readonly answer: Promise<Readonly<Record<string, Signed>>>;
}

/** As many as one call can sign. */
const mostRefs = 200;

/** The calls that are being collected. */
const open = new Map<Kind, Batch>();

async function sign(user: User, kind: Kind, assetId: string): Promise<Signed> {
  const begun = open.get(kind);
  const batch = begun !== undefined && begun.refs.size < mostRefs ? begun : begin(user, kind);
  batch.refs.add(assetId);
  return (await batch.answer)[assetId] ?? { ready: false };
}

function begin(user: User, kind: Kind): Batch {
  const refs = new Set<string>();
  const answer = new Promise((resolve) => setTimeout(resolve, 0)).then(() => {
    if (open.get(kind)?.refs === refs) open.delete(kind);
    const call = { method: 'POST', json: { refs: [...refs] } } as const;
    return user.json<Readonly<Record<string, Signed>>>('media', `/v1/sign/${kind}`, call);
  });
  const batch = { refs, answer };
  open.set(kind, batch);
  return batch;
}

export const signImage = async (user: User, assetId: string): Promise<string | undefined> =>
  (await sign(user, 'image', assetId)).thumbUrl;

export function signedQuery(user: User, kind: Kind, assetId: string) {
  return {
    queryKey: ['signed', user.id, kind, assetId],
    queryFn: () => sign(user, kind, assetId),
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
