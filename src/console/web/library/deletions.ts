/** Deletions that can be undone: the service deletes for good, so the call waits until the time to undo is over. */
import { useSyncExternalStore } from 'react';

const undoMs = 6000;

export interface PendingDeletion {
  readonly label: string;
  readonly ids: ReadonlySet<string>;
}

interface Waiting extends PendingDeletion {
  readonly commit: () => Promise<unknown>;
  readonly timer: ReturnType<typeof setTimeout>;
}

interface State {
  readonly pending: PendingDeletion | undefined;
  /** Hidden: they wait, or their deletion is in flight. */
  readonly hidden: ReadonlySet<string>;
  readonly problem: string;
}

let state: State = { pending: undefined, hidden: new Set(), problem: '' };
let waiting: Waiting | undefined;
const listeners = new Set<() => void>();

function change(next: Partial<State>): void {
  state = { ...state, ...next };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useDeletions = (): State => useSyncExternalStore(subscribe, () => state);

/** Hides the items at once. `commit` deletes them; it must also work while the page is being left. */
export function deleteLater(label: string, ids: readonly string[], commit: () => Promise<unknown>): void {
  void commitNow();
  const timer = setTimeout(() => void commitNow(), undoMs);
  waiting = { label, ids: new Set(ids), commit, timer };
  change({ pending: waiting, hidden: new Set([...state.hidden, ...ids]), problem: '' });
}

export function undoDeletion(): void {
  if (waiting === undefined) return;
  clearTimeout(waiting.timer);
  show(waiting.ids);
  waiting = undefined;
  change({ pending: undefined });
}

function show(ids: ReadonlySet<string>): void {
  change({ hidden: new Set([...state.hidden].filter((id) => !ids.has(id))) });
}

/** Ends the time to undo. What could not be deleted is shown again. */
export async function commitNow(): Promise<void> {
  if (waiting === undefined) return;
  const { ids, commit, timer } = waiting;
  clearTimeout(timer);
  waiting = undefined;
  change({ pending: undefined });
  try {
    await commit();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    change({ problem: `Nothing was deleted. ${reason}` });
  }
  show(ids);
}

export const dismissProblem = (): void => change({ problem: '' });

// A page that is left sends the call that is due; `keepalive` lets it end.
addEventListener('pagehide', () => void commitNow());
