/** The user's generations, newest first. */
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Generation, GenerationPage, ModelList } from '../../../client/agent/api.ts';
import { type User, useUser } from '../user.tsx';
import type { Kind } from './order.ts';

export type { Generation };
export type GenerationItem = Generation['items'][number];
export type MediaModel = ModelList['models'][number];

type Pages = InfiniteData<GenerationPage, string>;

const keyOf = (user: User) => ['generations', user.id];
/** Events report the ends. This also shows the images of an order one after the other. */
const lookEveryMs = 2000;

export function useGenerations() {
  const user = useUser();
  return useInfiniteQuery({
    queryKey: keyOf(user),
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: '20', ...(pageParam && { cursor: pageParam }) });
      return user.json<GenerationPage>('agent', `/generations?${query}`, { signal });
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: ({ state: { data } }) =>
      (data as Pages | undefined)?.pages[0]?.generations.some(({ status }) => status === 'running')
        ? lookEveryMs
        : false,
  });
}

/** Shows a new order at once. */
export function useShowOrder(): (generation: Generation) => void {
  const user = useUser();
  const queries = useQueryClient();
  return (generation) => {
    queries.setQueryData<Pages>(keyOf(user), (data) => {
      const [first, ...rest] = data?.pages ?? [];
      if (data === undefined || first === undefined) return data;
      const others = first.generations.filter(({ id }) => id !== generation.id);
      return { ...data, pages: [{ ...first, generations: [generation, ...others] }, ...rest] };
    });
    void queries.invalidateQueries({ queryKey: keyOf(user) });
    void queries.invalidateQueries({ queryKey: ['credits', user.id] });
  };
}

export function useCancel(): (id: string) => Promise<void> {
  const user = useUser();
  const queries = useQueryClient();
  return async (id) => {
    await user.send('agent', `/generations/${id}`, { method: 'DELETE' });
    void queries.invalidateQueries({ queryKey: keyOf(user) });
    void queries.invalidateQueries({ queryKey: ['credits', user.id] });
  };
}

export function useMediaModels(kind: Kind): readonly MediaModel[] {
  const user = useUser();
  const { data } = useQuery({
    queryKey: ['models', user.id, kind],
    queryFn: () => user.json<ModelList>('agent', `/models?kind=${kind}`),
    staleTime: 300_000,
  });
  return data?.models ?? [];
}

/** The ratio of an order is known only where it was given. */
const ratios = new Map<string, string>();
export const rememberRatio = (id: string, ratio: string): unknown => ratios.set(id, ratio);

export function ratioOf({ id, kind }: Generation, { width, height }: GenerationItem): string {
  if (width && height) return `${width} / ${height}`;
  return (ratios.get(id) ?? (kind === 'video' ? '16:9' : '1:1')).replace(':', ' / ');
}
