/** Deletions that can be undone: the service deletes for good, so the call waits until the notice is gone. */
import { notify, notifyWithUndo } from '../shell/notices.ts';
import { createShared } from '../shell/shared.ts';

/** Items that wait for their deletion, or whose deletion is in flight. */
const hidden = createShared<ReadonlySet<string>>(new Set());
const show = (ids: readonly string[]) => hidden.write(new Set([...hidden.read()].filter((id) => !ids.includes(id))));

export const useHidden = hidden.use;

/** One call deletes at most 1000 items. */
const mostDeleted = 1000;

/** Hides the items at once. `commit` deletes a lot of them; it must also work while the user leaves the page. */
export function deleteLater(
  text: string,
  ids: readonly string[],
  commit: (lot: readonly string[]) => Promise<unknown>,
): void {
  hidden.write(new Set([...hidden.read(), ...ids]));
  const perform = async () => {
    let deleted = 0;
    try {
      for (; deleted < ids.length; deleted += mostDeleted) await commit(ids.slice(deleted, deleted + mostDeleted));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const outcome = deleted === 0 ? 'Nothing was deleted.' : `Only ${deleted} items were deleted.`;
      notify(`${outcome} ${reason}`, { tone: 'bad' });
    }
    show(ids);
  };
  notifyWithUndo(text, { perform: () => void perform(), undo: () => show(ids) });
}
