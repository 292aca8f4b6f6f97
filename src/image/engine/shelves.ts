/** Counts the stored variants of each source, in order to limit them. */
import type { Objects } from '#platform/objects/objects.ts';

export interface Shelf {
  /** Takes a free place. `false`: there is none. Throws if the store cannot be listed. */
  take(): Promise<boolean>;
  /** Must be called in every case. */
  leave(): void;
}

interface Counted {
  readonly stored: Promise<number>;
  added: number;
  users: number;
}

/**
 * Counts the variants of a source when work on it begins, once for all concurrent work on it. Other processes count
 * separately. Together they can store more, by as many as they make of one source at the same time.
 */
export function createShelves(deps: { readonly objects: Pick<Objects, 'list'>; readonly places: number }) {
  const { objects, places } = deps;
  const counted = new Map<string, Counted>();

  /** Up to the number of places. */
  async function count(prefix: string): Promise<number> {
    let stored = 0;
    for await (const _ of objects.list(prefix)) {
      stored += 1;
      if (stored === places) break;
    }
    return stored;
  }

  function begin(prefix: string): Counted {
    const begun = { stored: count(prefix), added: 0, users: 0 };
    // Work that never takes a place does not list the store.
    begun.stored.catch(() => undefined);
    counted.set(prefix, begun);
    return begun;
  }

  /** Starts to count. `prefix`: the prefix of all variants of the source. */
  return (prefix: string): Shelf => {
    const ours = counted.get(prefix) ?? begin(prefix);
    ours.users += 1;
    return {
      take: async () => {
        if ((await ours.stored) + ours.added >= places) return false;
        ours.added += 1;
        return true;
      },
      leave: () => {
        ours.users -= 1;
        if (ours.users === 0) counted.delete(prefix);
      },
    };
  };
}
