/** Deletions that can be undone: the service deletes for good, so the call waits until the notice is gone. */
import { useSyncExternalStore } from 'react';
import { notify, notifyWithUndo } from '../shell/notices.ts';

/** Items that wait for their deletion, or whose deletion is in flight. */
let hidden: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function change(next: ReadonlySet<string>): void {
  hidden = next;
  for (const listener of listeners) listener();
}

const show = (ids: readonly string[]) => change(new Set([...hidden].filter((id) => !ids.includes(id))));

export const useHidden = (): ReadonlySet<string> =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => hidden,
  );

/** Hides the items at once. `commit` deletes them; it must also work while the user leaves the page. */
export function deleteLater(text: string, ids: readonly string[], commit: () => Promise<unknown>): void {
  change(new Set([...hidden, ...ids]));
  const perform = async () => {
    try {
      await commit();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      notify(`Nothing was deleted. ${reason}`, { tone: 'bad' });
    }
    show(ids);
  };
  notifyWithUndo(text, { perform: () => void perform(), undo: () => show(ids) });
}
