/** The user's conversations, as the agent service lists them. */
import { keepPreviousData } from '@tanstack/react-query';
import { navigate } from 'wouter/use-browser-location';
import type { Thread, ThreadChange, ThreadPage } from '../../../client/agent/api.ts';
import { notify, notifyFailure } from '../shell/notices.ts';
import { useOwnPages, useReread, useUser } from '../user.tsx';

export type { Thread };

export const newThreadId = (): string => `studio-${crypto.randomUUID()}`;

/** `trashed`: `true` for those in the trash. */
export function useThreads(q: string, trashed = '') {
  const query = { limit: '40', q, trashed };
  const listing = useOwnPages<ThreadPage>(['threads', query], 'agent', '/threads', query, {
    placeholderData: keepPreviousData,
  });
  return { ...listing, threads: listing.data?.pages.flatMap((page) => page.threads) };
}

export function useThreadCalls() {
  const user = useUser();
  const reread = useReread();
  async function change(threadId: string, json: ThreadChange): Promise<void> {
    await user.send('agent', `/threads/${threadId}`, { method: 'PATCH', json });
    await reread('threads');
  }
  return {
    change,
    /** `onUndo` follows the undo that the notice offers. */
    async trash(threadId: string, onUndo: () => void): Promise<void> {
      await change(threadId, { trashed: true });
      const undo = () => change(threadId, { trashed: false }).then(onUndo, notifyFailure);
      notify('Conversation moved to the trash.', { undo: () => void undo() });
    },
    async deleteForGood(threads: readonly Pick<Thread, 'threadId'>[]): Promise<void> {
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

/** A message that another page has prepared for a new conversation: assets to attach and text to send. */
export interface Draft {
  readonly assetIds: readonly string[];
  readonly text: string;
}

const keyOf = (threadId: string) => `atelier.draft.${threadId}`;

/** Opens a new conversation with the draft in its composer. It survives a reload. */
export function startDraft(draft: Draft): void {
  const threadId = newThreadId();
  sessionStorage.setItem(keyOf(threadId), JSON.stringify(draft));
  navigate(`/studio/${threadId}`);
}

/** The draft of a conversation, if another page has prepared one. */
export function readDraft(threadId: string): Draft | undefined {
  const text = sessionStorage.getItem(keyOf(threadId));
  return text === null ? undefined : JSON.parse(text);
}

/** Call it when the message is sent, or when the user discards it. */
export function clearDraft(threadId: string): void {
  sessionStorage.removeItem(keyOf(threadId));
}
