import { useSyncExternalStore } from 'react';

/** A value of the whole page. Components that read it with `use` are rendered again when it changes. */
export function createShared<T>(initial: T) {
  let value = initial;
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const read = () => value;
  return {
    read,
    write(next: T): void {
      value = next;
      for (const listener of listeners) listener();
    },
    use: (): T => useSyncExternalStore(subscribe, read),
  };
}
