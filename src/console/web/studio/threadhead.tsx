/** The title of a conversation, and what can be done with all of it. */
import { Ellipsis, Pencil, Share2, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { navigate } from 'wouter/use-browser-location';
import { openDialog } from '../library/dialogs.ts';
import { Button, IconButton } from '../parts/iconbutton.tsx';
import { useIsNarrow } from '../shell/browser.ts';
import { InTopBar } from '../shell/frame.tsx';
import { Menu, MenuItem } from '../shell/menu.tsx';
import { notifyFailure } from '../shell/notices.ts';
import { useOwn } from '../user.tsx';
import { newThreadId, type Thread, useThreadCalls, useThreads } from './threads.ts';

interface ThreadHeadProps {
  readonly threadId: string;
  /** The service has the conversation, and lists it. */
  readonly isListed: boolean;
  /** In place of the title of a conversation that is not listed. */
  readonly children: ReactNode;
}

/** Above the conversation, or in the bar of a narrow window. */
export function ThreadHead({ threadId, isListed, children }: ThreadHeadProps) {
  const isNarrow = useIsNarrow();
  const { threads } = useThreads('');
  const listed = threads?.find((one) => one.threadId === threadId);
  // The list has the newest conversations only.
  const { data } = useOwn<Thread>(['threads', 'one', threadId], 'agent', `/threads/${threadId}`, {
    enabled: isListed && threads !== undefined && listed === undefined,
  });
  const [isRenaming, setRenaming] = useState(false);
  const thread = listed ?? data;
  const content = !thread ? (
    children
  ) : isRenaming ? (
    <Renaming thread={thread} onEnd={() => setRenaming(false)} />
  ) : (
    <>
      <h2 className="strong cut title">{thread.title}</h2>
      {!isNarrow && <Button Icon={Share2} text="Share" className="plain" onClick={() => share(thread)} />}
      <ThreadMenu thread={thread} label="Options of this conversation" isCurrent onRename={() => setRenaming(true)} />
    </>
  );
  return isNarrow ? <InTopBar>{content}</InTopBar> : <header className="threadhead">{content}</header>;
}

const share = ({ threadId, title }: Thread) => openDialog({ kind: 'share-thread', threadId, title });

interface ThreadMenuProps {
  readonly thread: Thread;
  readonly label: string;
  readonly isCurrent: boolean;
  readonly onRename: () => void;
}

export function ThreadMenu({ thread, label, isCurrent, onRename }: ThreadMenuProps) {
  const { trash } = useThreadCalls();
  function remove() {
    if (isCurrent) navigate(`/studio/${newThreadId()}`);
    trash(thread.threadId, () => {
      if (isCurrent) navigate(`/studio/${thread.threadId}`);
    }).catch(notifyFailure);
  }
  return (
    <Menu align="end" trigger={<IconButton label={label} Icon={Ellipsis} />}>
      <MenuItem Icon={Pencil} onSelect={onRename}>
        Rename
      </MenuItem>
      <MenuItem Icon={Share2} onSelect={() => share(thread)}>
        Share
      </MenuItem>
      <MenuItem Icon={Trash2} tone="danger" onSelect={remove}>
        Delete
      </MenuItem>
    </Menu>
  );
}

export function Renaming({ thread, onEnd }: { readonly thread: Thread; readonly onEnd: () => void }) {
  const { change } = useThreadCalls();
  const [title, setTitle] = useState(thread.title);
  async function submit() {
    const next = title.trim();
    if (next !== '' && next !== thread.title) await change(thread.threadId, { title: next }).catch(notifyFailure);
    onEnd();
  }
  return (
    <form className="title" action={submit}>
      <input
        aria-label="Title"
        maxLength={200}
        value={title}
        // The menu returns the focus to its button when it closes, after the field is shown.
        ref={(field) => {
          if (field !== null) setTimeout(() => field.select());
        }}
        onChange={(event) => setTitle(event.target.value)}
        onBlur={() => void submit()}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          onEnd();
        }}
      />
    </form>
  );
}
