import { type ReactNode, type SyntheticEvent, useEffect, useId } from 'react';
import { isTouch } from '../shell/browser.ts';
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
  // React also reports when a dialog of its content closes.
  const end = ({ target }: SyntheticEvent) => target === dialog.current && onClose();
  // Begins where the user types. On a touch screen, the keyboard would cover the dialog.
  useEffect(() => {
    if (!isTouch())
      dialog.current?.querySelector<HTMLElement>('form :is(textarea, input:not([type], [readonly]))')?.focus();
  }, [dialog]);
  return (
    <dialog ref={dialog} className={isWide ? 'wide' : ''} aria-labelledby={titleId} onClose={end}>
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
