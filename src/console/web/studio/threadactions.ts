import { MessageSquare, SquarePen } from 'lucide-react';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { useActions } from '../shell/actions.ts';
import { newThreadId, useThreads } from './threads.ts';

/** The palette finds conversations by title, also where the list of conversations is hidden in a drawer. */
export function useThreadActions(): void {
  const { threads } = useThreads('');
  const [, navigate] = useLocation();
  const titles = threads?.map(({ threadId, title }) => `${threadId} ${title}`).join('\n') ?? '';
  useActions(
    useMemo(
      () => [
        {
          id: 'new-conversation',
          title: 'New conversation',
          group: 'Studio',
          Icon: SquarePen,
          keys: 'mod+shift+o',
          perform: () => navigate(`/studio/${newThreadId()}`),
        },
        ...titles
          .split('\n')
          .filter(Boolean)
          .map((line) => ({ threadId: line.slice(0, line.indexOf(' ')), title: line.slice(line.indexOf(' ') + 1) }))
          .map(({ threadId, title }) => ({
            id: threadId,
            title,
            group: 'Conversation',
            Icon: MessageSquare,
            perform: () => navigate(`/studio/${threadId}`),
          })),
      ],
      [titles, navigate],
    ),
  );
}
