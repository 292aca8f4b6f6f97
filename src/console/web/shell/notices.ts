/** Short messages about what has happened, with an undo where there is one. `Toasts` shows them. */
import { isSignedOut, sessionEnded } from '../calls.ts';
import { createShared } from './shared.ts';

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly tone: 'plain' | 'bad';
  readonly undo?: (() => void) | undefined;
  /** It stays until the user closes it. */
  readonly stays?: boolean | undefined;
}

const notices = createShared<readonly Notice[]>([]);
let lastId = 0;

export const useNotices = notices.use;

/** Returns its id. */
export function notify(text: string, options: Partial<Omit<Notice, 'id' | 'text'>> = {}): number {
  lastId += 1;
  notices.write([...notices.read(), { tone: 'plain', ...options, id: lastId, text }]);
  return lastId;
}

export const notifyFailure = (error: unknown): number =>
  notify(isSignedOut(error) ? sessionEnded : error instanceof Error ? error.message : String(error), { tone: 'bad' });

/** Removes the notice. */
export function take(id: number): Notice | undefined {
  const notice = notices.read().find((one) => one.id === id);
  if (notice !== undefined) notices.write(notices.read().filter((one) => one !== notice));
  return notice;
}

export const undo = (id: number): void => take(id)?.undo?.();
