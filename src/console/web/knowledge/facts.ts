/** What the memory service knows about the signed-in user, through the endpoints that users may call. */
import {
  keepPreviousData,
  type UseQueryOptions,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { EntityState, Injection, Memories, Memory, SearchResult } from '../../../client/memory/api.ts';
import { notify, notifyFailure } from '../shell/notices.ts';
import { product } from '../shell/product.ts';
import { useUser } from '../user.tsx';

export const groups: readonly { readonly type: Memory['type']; readonly title: string; readonly about: string }[] = [
  { type: 'preference', title: 'Preferences', about: 'What you like and what you are like.' },
  { type: 'instruction', title: 'Instructions', about: `How ${product} should work for you.` },
  { type: 'workflow', title: 'Ways of working', about: 'How you usually do things.' },
  { type: 'episodic', title: 'Events', about: 'What happened.' },
];

/** Newest first, page by page. */
export function useMemories() {
  const user = useUser();
  return useInfiniteQuery({
    queryKey: ['knowledge', user.id, 'memories'],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: '100', ...(pageParam && { cursor: pageParam }) });
      return user.json<Memories>('memory', `/memories?${query}`, { signal });
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    // Conversations change what is known.
    staleTime: 0,
  });
}

/** What it takes to store a fact again. */
export type Known = Pick<Memory, 'id' | 'content' | 'type' | 'metadata'> & Partial<Pick<Memory, 'thread_id'>>;

/** Forgets facts, and offers to undo it. A failure is only shown. */
export function useForgetFacts(): (facts: readonly Known[]) => Promise<void> {
  const user = useUser();
  const reread = useReread();
  const each = async (facts: readonly Known[], work: (fact: Known) => Promise<unknown>) => {
    await Promise.all(facts.map(work)).catch(notifyFailure);
    await reread();
  };
  const restore = ({ content, type, thread_id, metadata }: Known) => {
    const json = { entity_id: user.id, entity_type: 'user', content, type, thread_id, metadata };
    return user.json('memory', '/memory/add', { method: 'POST', json });
  };
  return async (facts) => {
    if (facts.length === 0) return;
    await each(facts, ({ id }) => user.send('memory', `/memory/${id}`, { method: 'DELETE' }));
    const what = facts.length === 1 ? `“${facts[0]?.content}”` : `${facts.length} facts`;
    notify(`Forgot ${what}.`, { undo: () => void each(facts, restore) });
  };
}

/** What the service responds about the user. `question`: posted with the user. */
function useKnown<T>(
  name: readonly string[],
  path: string,
  question?: object,
  options: Pick<UseQueryOptions<T>, 'enabled' | 'placeholderData'> = {},
) {
  const user = useUser();
  const json = { entity_id: user.id, entity_type: 'user', ...question };
  return useQuery<T>({
    queryKey: ['knowledge', user.id, ...name],
    queryFn: ({ signal }) => user.json<T>('memory', path, { ...(question && { method: 'POST', json }), signal }),
    // Conversations change what is known.
    staleTime: 0,
    ...options,
  });
}

/** By words and by meaning, in the whole memory. A blank search is not sent. */
export const useSearch = (query: string) =>
  useKnown<SearchResult>(
    ['search', query],
    '/memory/search',
    { query, limit: 50 },
    { enabled: query !== '', placeholderData: keepPreviousData },
  );

/** Facts from the memories, such as the name. An empty query returns no memories. */
export const useProfile = () => useKnown<Injection>(['profile'], '/inject', { query: '' });

/** When the user has paused the memory; `null`: it is in use. */
export const usePause = () => useKnown<EntityState>(['pause'], `/entities/user/${useUser().id}`);

/** Begins or ends the pause. */
export function usePausing() {
  const user = useUser();
  const reread = useReread();
  return async (paused: boolean) => {
    await user.json<EntityState>('memory', `/entities/user/${user.id}`, { method: 'PATCH', json: { paused } });
    await reread();
  };
}

export function useReread(): () => Promise<void> {
  const queries = useQueryClient();
  const user = useUser();
  return () => queries.invalidateQueries({ queryKey: ['knowledge', user.id] });
}
