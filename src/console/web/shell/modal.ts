import { type RefObject, useEffect, useRef } from 'react';

/** Opens the browser's dialog while it is mounted. The focus returns to where it was. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // The dialog may have removed the element that opened it, or moved the focus itself.
      if (document.activeElement !== document.body && document.activeElement !== null) return;
      const next = opener?.isConnected && opener !== document.body ? opener : document.getElementById('main');
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    };
  }, []);
  return dialog;
}
