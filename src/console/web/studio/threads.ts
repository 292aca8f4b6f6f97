/** The user's conversations, as the agent service lists them. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import type { Thread, ThreadPage } from '../../../client/agent/api.ts';
import { notify, notifyFailure, notifyWithUndo } from '../shell/notices.ts';
import { createShared } from '../shell/shared.ts';
import { type User, useUser } from '../user.tsx';

export type { Thread };

const pageSize = '40';

export const newThreadId = (): string => `studio-${crypto.randomUUID()}`;

export function useThreads(search: string) {
  const user = useUser();
  const hidden = leaving.use();
  const listing = useInfiniteQuery({
    queryKey: ['threads', user.id, search],
    queryFn: ({ pageParam }) => {
      const query = { limit: pageSize, ...(search && { q: search }), ...(pageParam && { cursor: pageParam }) };
      return user.json<ThreadPage>('agent', `/threads?${new URLSearchParams(query)}`);
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (previous) => previous,
  });
  const threads = listing.data?.pages.flatMap((page) => page.threads).filter(({ threadId }) => !hidden.has(threadId));
  return { ...listing, threads };
}

export function useRename() {
  const user = useUser();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ threadId, title }: Pick<Thread, 'threadId' | 'title'>) =>
      user.json<Thread>('agent', `/threads/${threadId}`, { method: 'PATCH', json: { title } }),
    onError: notifyFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['threads', user.id] }),
  });
}

/** Threads that are shown as deleted, and can still be brought back. */
const leaving = createShared<ReadonlySet<string>>(new Set());

/** The service deletes for good, so the request waits until the notice with the undo is gone. */
export function deleteThread(user: User, { threadId }: Thread, onUndo: () => void): void {
  const bringBack = () => leaving.write(new Set([...leaving.read()].filter((id) => id !== threadId)));
  leaving.write(new Set([...leaving.read(), threadId]));
  notifyWithUndo('Conversation deleted.', {
    perform: () => {
      user.send('agent', `/threads/${threadId}`, { method: 'DELETE', isLast: true }).catch(() => {
        bringBack();
        notify('The conversation could not be deleted. Try again.', { tone: 'bad' });
      });
    },
    undo: () => {
      bringBack();
      onUndo();
    },
  });
}

const dayMs = 86_400_000;
const month = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });

/** Threads under the names of their periods, in the order of the list. */
export function groupByDate(
  threads: readonly Thread[],
  now = new Date(),
): readonly { readonly name: string; readonly threads: readonly Thread[] }[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const nameOf = (at: string) => {
    const time = Date.parse(at);
    if (time >= today) return 'Today';
    if (time >= today - dayMs) return 'Yesterday';
    if (time >= today - 7 * dayMs) return 'Previous 7 days';
    if (time >= today - 30 * dayMs) return 'Previous 30 days';
    return month.format(time);
  };
  const groups: { name: string; threads: Thread[] }[] = [];
  for (const thread of threads) {
    const name = nameOf(thread.updatedAt);
    const last = groups.at(-1);
    if (last?.name === name) last.threads.push(thread);
    else groups.push({ name, threads: [thread] });
  }
  return groups;
}
