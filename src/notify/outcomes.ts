/** Wakes callers that wait for a send after a worker of the same process has tried it. */

/** An email that the channel accepted. */
export interface Delivered {
  /** The id of a scheduled email is our own. */
  readonly providerId: string;
  /** The recipients that did not get the email. */
  readonly suppressed: readonly string[];
}

type Wake = (delivered: Delivered | undefined) => void;

export interface Outcomes {
  /** Calls `wake` at the next change of the send, with its result if it was sent. Call the returned function to stop. */
  watch(id: string, wake: Wake): () => void;
  changed(id: string, delivered?: Delivered): void;
}

export function createOutcomes(): Outcomes {
  const watchers = new Map<string, Set<Wake>>();
  return {
    watch(id, wake) {
      const all = watchers.get(id) ?? new Set();
      watchers.set(id, all.add(wake));
      return () => {
        all.delete(wake);
        if (all.size === 0 && watchers.get(id) === all) watchers.delete(id);
      };
    },
    changed(id, delivered) {
      for (const wake of watchers.get(id) ?? []) wake(delivered);
    },
  };
}
