/** Keeps the stored variants of a source that were used last, of transforms that the public can choose. */
import { createLru } from '#platform/cache/lru.ts';
import type { Clock } from '#platform/clock.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { isShelved } from './keys.ts';

export interface Shelves {
  /** Notes the use of a stored variant. */
  use(key: string): void;
  /** Removes the variants that were not used for longest until `count` more fit. Rejects if the store does not respond. */
  makeRoom(prefix: string, count: number): Promise<void>;
}

/**
 * A process knows its own uses since its start. Other variants count from the time at which they were stored, so a
 * variant that only other processes use can be removed. Its next use stores it again.
 */
export function createShelves(deps: {
  readonly objects: Pick<Objects, 'list' | 'remove'>;
  readonly places: number;
  readonly clock: Clock;
}): Shelves {
  const { objects, places, clock } = deps;
  const usedAt = createLru<string, number>(100_000);
  return {
    use: (key) => {
      if (isShelved(key)) usedAt.set(key, clock.now());
    },
    makeRoom: async (prefix, count) => {
      const stored: { readonly key: string; readonly at: number }[] = [];
      for await (const { key, modifiedAt } of objects.list(prefix))
        if (isShelved(key)) stored.push({ key, at: Math.max(modifiedAt.getTime(), usedAt.get(key) ?? 0) });
      const excess = stored.length + count - places;
      if (excess <= 0) return;
      const oldest = stored.sort((left, right) => left.at - right.at).slice(0, excess);
      await objects.remove(oldest.map(({ key }) => key));
    },
  };
}
