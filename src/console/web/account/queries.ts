/** The account of the signed-in user: its state, and what it uses. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { UsageDays } from '../../../client/agent/api.ts';
import type { OwnAccount } from '../../../client/auth/api.ts';
import type { MediaUsage } from '../../../client/media/api.ts';
import { useUser } from '../user.tsx';

const keyOf = (id: string) => ['account', id];

/** While an export is being prepared, it is read again. */
export function useAccount() {
  const user = useUser();
  return useQuery({
    queryKey: keyOf(user.id),
    queryFn: () => user.json<OwnAccount>('auth', '/account'),
    refetchInterval: ({ state }) => (state.data?.export?.status === 'preparing' ? 2000 : false),
  });
}

export function useUsage() {
  const user = useUser();
  return useQuery({
    queryKey: ['usage', user.id],
    queryFn: async () => {
      const [{ days }, storage] = await Promise.all([
        user.json<UsageDays>('agent', '/usage'),
        user.json<MediaUsage>('media', '/v1/usage'),
      ]);
      const sumOf = (name: 'runs' | 'images' | 'videos' | 'credits') => days.reduce((sum, day) => sum + day[name], 0);
      return {
        runs: sumOf('runs'),
        images: sumOf('images'),
        videos: sumOf('videos'),
        credits: sumOf('credits'),
        storage,
      };
    },
  });
}

/** A change of the account, after which its state is read again. */
export function useAccountChange(method: 'GET' | 'POST' | 'DELETE', path: string, onSuccess?: () => void) {
  const user = useUser();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      await user.send('auth', path, { method });
      if (method !== 'DELETE') await queries.invalidateQueries({ queryKey: keyOf(user.id) });
    },
    ...(onSuccess && { onSuccess }),
  });
}
