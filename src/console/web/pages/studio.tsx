import { Link, Redirect, useParams } from 'wouter';
import { Conversation } from '../studio/conversation.tsx';
import { useThreads } from '../studio/threads.ts';
import { SignedInAs, useUser } from '../user.tsx';

const newThreadId = () => `studio-${crypto.randomUUID()}`;

export function Studio() {
  const user = useUser();
  const { threadId } = useParams<{ readonly threadId?: string }>();
  const threads = useThreads(user.id);
  if (threadId === undefined) return <Redirect to={`/studio/${threads[0]?.id ?? newThreadId()}`} replace />;
  return (
    <>
      <header className="page">
        <h1>Studio</h1>
        <SignedInAs />
      </header>
      <div className="studio">
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
        <Conversation key={threadId} threadId={threadId} />
      </div>
    </>
  );
}
