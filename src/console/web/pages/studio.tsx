import '../studio/studio.css';
import { MessageSquare, Search, SquarePen } from 'lucide-react';
import { useDeferredValue, useMemo, useState } from 'react';
import { Link, Redirect, useParams } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import { IconButton, icon } from '../parts/iconbutton.tsx';
import { Failure } from '../parts/states.tsx';
import { useActions } from '../shell/actions.ts';
import { InSidebar, InTopBar } from '../shell/frame.tsx';
import { Skeleton } from '../shell/skeleton.tsx';
import { Conversation } from '../studio/conversation.tsx';
import { Renaming, ThreadMenu } from '../studio/threadhead.tsx';
import { groupByDate, newThreadId, type Thread, useThreads } from '../studio/threads.ts';

export function Studio() {
  const { threadId } = useParams<{ readonly threadId?: string }>();
  return threadId === undefined ? <Redirect to={`/studio/${newThreadId()}`} replace /> : <Opened threadId={threadId} />;
}

function Opened({ threadId }: { readonly threadId: string }) {
  useThreadActions();
  return (
    <div className="studio">
      <h1 className="unseen">Studio</h1>
      <InSidebar>
        <ThreadList current={threadId} />
      </InSidebar>
      <InTopBar>
        <IconButton
          label="New conversation"
          Icon={SquarePen}
          size={20}
          onClick={() => navigate(`/studio/${newThreadId()}`)}
        />
      </InTopBar>
      <Conversation key={threadId} threadId={threadId} />
    </div>
  );
}

function ThreadList({ current }: { readonly current: string }) {
  const [text, setText] = useState('');
  const search = useDeferredValue(text.trim());
  const { threads, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useThreads(search);
  return (
    <nav aria-label="Conversations" className="threads">
      <button type="button" className="new" onClick={() => navigate(`/studio/${newThreadId()}`)}>
        <SquarePen {...icon} /> New conversation
      </button>
      <label className="search">
        <span className="unseen">Search conversations</span>
        <Search {...icon} />
        <input
          type="search"
          placeholder="Search"
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className="list">
        {threads === undefined ? (
          error ? (
            <Failure error={error} retry={refetch} />
          ) : (
            <Skeleton label="Loading conversations" lines={3} />
          )
        ) : threads.length === 0 ? (
          <p className="quiet small none">
            {search === '' ? 'Your conversations appear here.' : 'No conversation matches.'}
          </p>
        ) : (
          [...groupByDate(threads)].map(([name, group]) => (
            <section key={name} aria-label={name}>
              <h2 className="quiet">{name}</h2>
              <ul>
                {group.map((thread) => (
                  <Entry key={thread.threadId} thread={thread} isCurrent={thread.threadId === current} />
                ))}
              </ul>
            </section>
          ))
        )}
        {hasNextPage && (
          <button type="button" className="plain" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show more
          </button>
        )}
      </div>
    </nav>
  );
}

function Entry({ thread, isCurrent }: { readonly thread: Thread; readonly isCurrent: boolean }) {
  const { threadId, title, runningTaskId } = thread;
  const [isRenaming, setRenaming] = useState(false);
  if (isRenaming)
    return (
      <li>
        <Renaming thread={thread} onEnd={() => setRenaming(false)} />
      </li>
    );
  return (
    <li className="thread">
      <Link href={`/studio/${threadId}`} aria-current={isCurrent ? 'page' : undefined} title={title}>
        <span className="cut">{title}</span>
        {runningTaskId !== null && <span className="spinner small" role="img" aria-label="An answer is in progress" />}
      </Link>
      <ThreadMenu
        thread={thread}
        label={`Options of ${title}`}
        isCurrent={isCurrent}
        onRename={() => setRenaming(true)}
      />
    </li>
  );
}

/** The palette finds conversations by title, also where their list is hidden in a drawer. */
function useThreadActions(): void {
  const { data } = useThreads('');
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
        ...(data?.pages ?? [])
          .flatMap(({ threads }) => threads)
          .map(({ threadId, title }) => ({
            ...{ id: threadId, title, group: 'Conversation', Icon: MessageSquare },
            perform: () => navigate(`/studio/${threadId}`),
          })),
      ],
      [data],
    ),
  );
}
