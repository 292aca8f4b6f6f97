/** Wakes callers that wait for a send after a worker of the same process has tried it. */

export interface Outcomes {
  /** Calls `wake` at the next change of the send. Call the returned function to stop. */
  watch(id: string, wake: () => void): () => void;
  changed(id: string): void;
}

export function createOutcomes(): Outcomes {
  const watchers = new Map<string, Set<() => void>>();
  return {
    watch(id, wake) {
      const all = watchers.get(id) ?? new Set();
      watchers.set(id, all.add(wake));
      return () => {
        all.delete(wake);
        if (all.size === 0 && watchers.get(id) === all) watchers.delete(id);
      };
    },
    changed(id) {
      for (const wake of watchers.get(id) ?? []) wake();
    },
  };
}
