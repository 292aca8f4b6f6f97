import { type RefObject, useEffect, useRef, useSyncExternalStore } from 'react';

let opened: readonly HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

function change(next: readonly HTMLDialogElement[]): void {
  opened = next;
  for (const listener of listeners) listener();
}

/** The dialog above all others. Elements outside it cannot be used. */
export const useTopDialog = (): HTMLDialogElement | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => opened.at(-1),
  );

/** Opens the browser's dialog while it is mounted. The focus returns to where it was. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    if (element === null) return;
    element.showModal();
    change([...opened, element]);
    return () => {
      change(opened.filter((one) => one !== element));
      // The dialog may have removed the element that opened it, or moved the focus itself.
      if (document.activeElement !== document.body && document.activeElement !== null) return;
      const next = opener?.isConnected && opener !== document.body ? opener : document.getElementById('main');
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    };
  }, []);
  return dialog;
}
