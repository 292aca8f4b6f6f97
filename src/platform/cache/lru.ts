/** Maps in memory with a maximum number of entries, of which the least recently used are evicted first. */
import { LRUCache } from 'lru-cache';

/** Counts entries as sizes, because the library allocates the space for a maximum number of entries at once. */
export function createLru<Key extends string, Value extends object | string | number>(
  maxEntries: number,
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ maxSize: maxEntries, sizeCalculation: () => 1 });
}
