import { type ReactNode, useEffect, useId, useRef } from 'react';

/** The browser's dialog: it holds the focus, closes on Escape, and hides the page below from assistive technology. */
export function Dialog({
  title,
  onClose,
  isWide = false,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // The dialog may have deleted the element that opened it.
      const next = opener?.isConnected ? opener : document.getElementById('main');
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    };
  }, []);
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
