/** The threads of this browser. The agent service stores threads, but does not list them. */
import { useSyncExternalStore } from 'react';

export interface Thread {
  readonly id: string;
  readonly title: string;
}

const most = 50;
const listeners = new Set<() => void>();
const keyOf = (userId: string) => `atelier.threads.${userId}`;

export function useThreads(userId: string): readonly Thread[] {
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(keyOf(userId)) ?? '[]');
  return parse(text);
}

/** The newest first. A known thread is not renamed. */
export function rememberThread(userId: string, thread: Thread): void {
  const known = parse(localStorage.getItem(keyOf(userId)) ?? '[]');
  if (known.some(({ id }) => id === thread.id)) return;
  localStorage.setItem(keyOf(userId), JSON.stringify([thread, ...known].slice(0, most)));
  for (const listener of listeners) listener();
}

function parse(text: string): readonly Thread[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}
