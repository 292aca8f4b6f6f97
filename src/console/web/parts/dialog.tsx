import { type ReactNode, useEffect, useId, useRef } from 'react';

/** The browser's own: it keeps the focus, ends on Escape, and hides what lies behind from every reader. */
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
      // What opened it may be gone, deleted from within.
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
