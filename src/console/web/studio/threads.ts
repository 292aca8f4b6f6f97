/** The user's conversations, as the agent service lists them. */
import { useMutation } from '@tanstack/react-query';
import type { Thread, ThreadPage } from '../../../client/agent/api.ts';
import { notify, notifyFailure } from '../shell/notices.ts';
import { type User, useOwnPages, useReread, useUser } from '../user.tsx';

export type { Thread };

const pageSize = '40';

export const newThreadId = (): string => `studio-${crypto.randomUUID()}`;

export function useThreads(search: string) {
  const listing = useOwnPages<ThreadPage>(
    ['threads', search],
    'agent',
    '/threads',
    { limit: pageSize, q: search },
    { placeholderData: (previous) => previous },
  );
  return { ...listing, threads: listing.data?.pages.flatMap((page) => page.threads) };
}

export function useRename() {
  const user = useUser();
  const reread = useReread();
  return useMutation({
    mutationFn: ({ threadId, title }: Pick<Thread, 'threadId' | 'title'>) =>
      user.json<Thread>('agent', `/threads/${threadId}`, { method: 'PATCH', json: { title } }),
    onError: notifyFailure,
    onSettled: () => reread('threads'),
  });
}

const move = (user: User, { threadId }: Pick<Thread, 'threadId'>, trashed: boolean) =>
  user.json<Thread>('agent', `/threads/${threadId}`, { method: 'PATCH', json: { trashed } });

/** Moves conversations to the trash and back. `onUndo` follows the undo that the notice offers. */
export function useTrashThread(): (thread: Thread, onUndo: () => void) => Promise<void> {
  const user = useUser();
  const reread = useReread();
  return async (thread, onUndo) => {
    const undo = async () => {
      await move(user, thread, false);
      await reread('threads');
      onUndo();
    };
    await move(user, thread, true);
    await reread('threads');
    notify('Conversation moved to the trash.', { undo: () => undo().catch(notifyFailure) });
  };
}

/** The conversations in the trash. */
export function useTrashedThreads() {
  const user = useUser();
  const reread = useReread();
  const listing = useOwnPages<ThreadPage>(['threads', 'trash', 'all'], 'agent', '/threads', {
    trashed: 'true',
    limit: pageSize,
  });
  return {
    ...listing,
    threads: listing.data?.pages.flatMap((page) => page.threads),
    async restore(thread: Thread) {
      await move(user, thread, false);
      await reread('threads');
    },
    async deleteForGood(threads: readonly Thread[]) {
      for (const { threadId } of threads) await user.send('agent', `/threads/${threadId}`, { method: 'DELETE' });
      await reread('threads');
    },
  };
}

const dayMs = 86_400_000;
const month = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });

/** Threads by the names of their periods, in the order of the list. */
export function groupByDate(threads: readonly Thread[]): ReadonlyMap<string, readonly Thread[]> {
  const now = new Date();
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const nameOf = (at: string) => {
    const time = Date.parse(at);
    if (time >= today) return 'Today';
    if (time >= today - dayMs) return 'Yesterday';
    if (time >= today - 7 * dayMs) return 'Previous 7 days';
    if (time >= today - 30 * dayMs) return 'Previous 30 days';
    return month.format(time);
  };
  return Map.groupBy(threads, ({ updatedAt }) => nameOf(updatedAt));
}
