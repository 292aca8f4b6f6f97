/** People by their email addresses, wherever a service returns ids. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Names } from '#accounts/people/api.ts';
import { callJson } from '../calls.ts';

/** Ids of links that appear at the same time are read together. */
const waiting = new Map<string, PromiseWithResolvers<string | null>>();
const gatherMs = 20;
const most = 200;

function readName(id: string): Promise<string | null> {
  const known = waiting.get(id);
  if (known !== undefined) return known.promise;
  const promised = Promise.withResolvers<string | null>();
  if (waiting.size === 0) setTimeout(readWaiting, gatherMs);
  waiting.set(id, promised);
  return promised.promise;
}

function readWaiting(): void {
  const all = [...waiting];
  waiting.clear();
  for (let from = 0; from < all.length; from += most) {
    const some = all.slice(from, from + most);
    callJson<Names>(`/api/people/names?ids=${some.map(([id]) => id).join(',')}`).then(
      ({ names }) => some.forEach(([id, { resolve }]) => void resolve(names[id] ?? null)),
      (error: unknown) => some.forEach(([, { reject }]) => void reject(error)),
    );
  }
}

function useName(id: string): string {
  const { data } = useQuery({
    queryKey: ['name', id],
    queryFn: () => readName(id.toLowerCase()),
    staleTime: 300_000,
    retry: false,
  });
  return data ?? `User ${id.slice(0, 8)}`;
}

export function PersonLink({ id }: { readonly id: string }) {
  const name = useName(id);
  return (
    <Link href={`/operator/people/${id}`} className="person-link" title={id}>
      {name}
    </Link>
  );
}

/** An entity of the memory service, by name if it is a user. */
export function EntityName({ type, id }: { readonly type: string; readonly id: string }) {
  return type === 'user' && isId.test(id) ? <PersonName id={id} /> : `${type} ${id}`;
}

const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PersonName = ({ id }: { readonly id: string }) => <span title={id}>{useName(id)}</span>;
