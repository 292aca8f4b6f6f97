import { X } from 'lucide-react';
import { Toast } from 'radix-ui';
import { createPortal } from 'react-dom';
import { IconButton } from '../parts/iconbutton.tsx';
import { useTopDialog } from './modal.ts';
import { expire, undo, useNotices } from './notices.ts';

const shownMs = 5000;
const undoableMs = 8000;

/** F8 moves the focus to the notices. Time stops while one has the focus or the pointer. */
export function Toasts() {
  const notices = useNotices();
  // A dialog covers the page and holds the focus, so the notices have to be in it.
  const dialog = useTopDialog();
  const viewport = <Toast.Viewport className="toasts" label="Notices ({hotkey})" />;
  return (
    <Toast.Provider swipeDirection="down">
      {notices.map(({ id, text, tone, undo: isUndoable }) => (
        <Toast.Root
          key={id}
          className={`toast ${tone}`}
          type={tone === 'bad' ? 'foreground' : 'background'}
          duration={isUndoable ? undoableMs : shownMs}
          onOpenChange={(isOpen) => {
            if (!isOpen) expire(id);
          }}
        >
          {/* Radix announces notices in the page, which a dialog hides from assistive technology. */}
          <Toast.Description role={dialog && 'status'}>{text}</Toast.Description>
          {isUndoable && (
            <Toast.Action altText="Undo" asChild>
              <button type="button" className="plain strong" onClick={() => undo(id)}>
                Undo
              </button>
            </Toast.Action>
          )}
          <Toast.Close asChild>
            <IconButton label="Dismiss" Icon={X} />
          </Toast.Close>
        </Toast.Root>
      ))}
      {dialog === undefined ? viewport : createPortal(viewport, dialog)}
    </Toast.Provider>
  );
}
