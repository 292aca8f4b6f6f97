import { type ReactNode, useId } from 'react';
import { useModal } from '../shell/modal.ts';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** The browser's dialog: it holds the focus, closes on Escape, and hides the page below from assistive technology. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps) {
  const dialog = useModal();
  const titleId = useId();
  return (
    <dialog ref={dialog} className={isWide ? 'wide' : ''} aria-labelledby={titleId} onClose={onClose}>
      <div className="row">
        <h2 id={titleId}>{title}</h2>
        <button type="button" className="plain" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  );
}
