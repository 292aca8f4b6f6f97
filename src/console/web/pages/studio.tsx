import { Link, Redirect, useParams } from 'wouter';
import { InSidebar } from '../shell/frame.tsx';
import { Conversation } from '../studio/conversation.tsx';
import { useThreads } from '../studio/threads.ts';
import { useUser } from '../user.tsx';
import '../studio/studio.css';

const newThreadId = () => `studio-${crypto.randomUUID()}`;

export function Studio() {
  const user = useUser();
  const { threadId } = useParams<{ readonly threadId?: string }>();
  const threads = useThreads(user.id);
  if (threadId === undefined) return <Redirect to={`/studio/${threads[0]?.id ?? newThreadId()}`} replace />;
  return (
    <div className="studio">
      <h1 className="unseen">Studio</h1>
      <InSidebar>
        <nav aria-label="Conversations" className="threads">
          <Link className="button" href={`/studio/${newThreadId()}`}>
            New conversation
          </Link>
          <ul>
            {threads.map(({ id, title }) => (
              <li key={id}>
                <Link href={`/studio/${id}`} aria-current={id === threadId ? 'page' : undefined}>
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      </InSidebar>
      <Conversation key={threadId} threadId={threadId} />
    </div>
  );
}
