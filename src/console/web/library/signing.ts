/** Signed URLs of assets. One call signs all that are needed at the same time. */
import { useQuery } from '@tanstack/react-query';
import { type User, useUser } from '../user.tsx';

export interface Signed {
  readonly ready: boolean;
  readonly url?: string;
  readonly playUrl?: string;
  readonly thumbUrl?: string;
  readonly previewUrl?: string;
  readonly blurhash?: string | null;
  readonly mime?: string;
}

type Kind = 'image' | 'video';

interface Batch {
  readonly refs: Set<string>;
  readonly answer: Promise<Readonly<Record<string, Signed>>>;
}

const batches = new WeakMap<User, Map<Kind, Batch>>();
const mostRefs = 200;

function sign(user: User, kind: Kind, assetId: string): Promise<Signed> {
  const open = batches.get(user) ?? new Map<Kind, Batch>();
  batches.set(user, open);
  let batch = open.get(kind);
  if (batch === undefined || batch.refs.size >= mostRefs) {
    const refs = new Set<string>();
    const answer = new Promise((resolve) => setTimeout(resolve, 0)).then(() => {
      open.delete(kind);
      return user.json<Readonly<Record<string, Signed>>>('media', `/v1/sign/${kind}`, {
        method: 'POST',
        json: { refs: [...refs] },
      });
    });
    batch = { refs, answer };
    open.set(kind, batch);
  }
  batch.refs.add(assetId);
  return batch.answer.then((signed) => signed[assetId] ?? { ready: false });
}

export function useSigned(kind: Kind, assetId: string | null) {
  const user = useUser();
  return useQuery({
    queryKey: ['signed', user.id, kind, assetId],
    queryFn: () => sign(user, kind, assetId ?? ''),
    enabled: assetId !== null,
    // URLs are valid for days.
    staleTime: 3_600_000,
  });
}
