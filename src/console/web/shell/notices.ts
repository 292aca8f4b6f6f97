/** Short messages about what has happened, with an undo where there is one. `Toasts` shows them. */
import { createShared } from './shared.ts';

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly tone: 'plain' | 'bad';
  readonly undo?: (() => void) | undefined;
  /** Called once, when the notice is gone and was not undone. */
  readonly onExpire?: (() => void) | undefined;
}

const notices = createShared<readonly Notice[]>([]);
let lastId = 0;

export const useNotices = notices.use;

export function notify(text: string, options: Partial<Omit<Notice, 'id' | 'text'>> = {}): void {
  lastId += 1;
  notices.write([...notices.read(), { tone: 'plain', ...options, id: lastId, text }]);
}

export const notifyFailure = (error: unknown): void =>
  notify(error instanceof Error ? error.message : String(error), { tone: 'bad' });

function take(id: number): Notice | undefined {
  const notice = notices.read().find((one) => one.id === id);
  if (notice !== undefined) notices.write(notices.read().filter((one) => one !== notice));
  return notice;
}

export const expire = (id: number): void => take(id)?.onExpire?.();
export const undo = (id: number): void => take(id)?.undo?.();

/**
 * For changes that the server cannot take back: the page shows the change at once, and `perform` sends it when the notice expires,
 * or when the user leaves the page. `perform` should use `keepalive`.
 */
export function notifyWithUndo(
  text: string,
  { perform, undo }: { readonly perform: () => void; readonly undo: () => void },
): void {
  notify(text, { undo, onExpire: perform });
}

window.addEventListener('pagehide', () => {
  for (const { id, onExpire } of notices.read()) if (onExpire !== undefined) expire(id);
});
