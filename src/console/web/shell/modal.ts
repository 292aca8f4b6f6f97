import { type RefObject, useEffect, useRef } from 'react';
import { createShared } from './shared.ts';

const opened = createShared<readonly HTMLDialogElement[]>([]);

/** The dialog above all others. Elements outside it cannot be used. */
export const useTopDialog = (): HTMLDialogElement | undefined => opened.use().at(-1);

/** Opens the browser's dialog while it is mounted. The focus returns to where it was. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    if (element === null) return;
    element.showModal();
    opened.write([...opened.read(), element]);
    return () => {
      opened.write(opened.read().filter((one) => one !== element));
      // The dialog may have removed the element that opened it, or moved the focus itself.
      if (document.activeElement !== document.body && document.activeElement !== null) return;
      const next = opener?.isConnected && opener !== document.body ? opener : document.getElementById('main');
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    };
  }, []);
  return dialog;
}
