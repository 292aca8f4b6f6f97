/** How many variants of each source are stored, as far as it has to be known to bound them. */
import type { Objects } from '#platform/objects/objects.ts';

export interface Shelf {
  /** Takes one of the free places. `false`: there is none. Throws when the store cannot be listed. */
  take(): Promise<boolean>;
  /** To be called in any case. */
  leave(): void;
}

interface Counted {
  readonly stored: Promise<number>;
  added: number;
  users: number;
}

/**
 * Variants are counted when their source is worked on, and once for all works on it at the same time. Other processes count
 * by themselves: together they can store more, by as many as they make of one source at the same time.
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
    // Those who never take a place do not ask.
    begun.stored.catch(() => undefined);
    counted.set(prefix, begun);
    return begun;
  }

  /** Begins to count. `prefix`: what the keys of all variants of the source begin with. */
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
