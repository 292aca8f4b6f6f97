import { SquarePen } from 'lucide-react';
import { Redirect, useLocation, useParams } from 'wouter';
import { IconButton } from '../parts/iconbutton.tsx';
import { InSidebar, InTopBar } from '../shell/frame.tsx';
import { Conversation } from '../studio/conversation.tsx';
import { useThreadActions } from '../studio/threadactions.ts';
import { ThreadList } from '../studio/threadlist.tsx';
import { newThreadId } from '../studio/threads.ts';
import '../studio/studio.css';

export function Studio() {
  const { threadId } = useParams<{ readonly threadId?: string }>();
  return threadId === undefined ? <Redirect to={`/studio/${newThreadId()}`} replace /> : <Opened threadId={threadId} />;
}

function Opened({ threadId }: { readonly threadId: string }) {
  const [, navigate] = useLocation();
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
