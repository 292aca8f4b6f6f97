/** Finds the objects of many prefixes with few listings. */
import { mapConcurrently } from '../concurrency.ts';
import type { Objects } from './objects.ts';

const listingsAtOnce = 16;
/** The page size of S3. A listing of one page costs one call, however many of its keys are wanted. */
const pageKeys = 1000;
/** How many other keys are read for each prefix before listing each prefix separately is cheaper. */
const strangersPerStart = 8;

/**
 * Returns the keys that begin with one of `starts`, each once, in no order. One listing of a folder serves all prefixes
 * in it, unless there are too many other keys.
 */
export async function gather(objects: Pick<Objects, 'list'>, starts: readonly string[]): Promise<readonly string[]> {
  const folders = Map.groupBy(new Set(starts), (start) => start.slice(0, start.lastIndexOf('/') + 1));
  const found = await mapConcurrently([...folders], listingsAtOnce, async ([folder, some]) => {
    const together = some.length === 1 ? undefined : await gatherTogether(objects, folder, some);
    return together ?? gatherEach(objects, some);
  });
  return [...new Set(found.flat())];
}

/** Returns `undefined` if there are too many other keys. Does not depend on the order of keys, which differs between stores beyond ASCII. */
async function gatherTogether(
  objects: Pick<Objects, 'list'>,
  folder: string,
  starts: readonly string[],
): Promise<readonly string[] | undefined> {
  const wanted = new Set(starts);
  const lengths = [...new Set(starts.map((start) => start.length))];
  const found: string[] = [];
  let strangers = pageKeys + strangersPerStart * starts.length;
  for await (const { key } of objects.list(folder)) {
    if (lengths.some((length) => wanted.has(key.slice(0, length)))) found.push(key);
    else if (--strangers < 0) return undefined;
  }
  return found;
}

async function gatherEach(objects: Pick<Objects, 'list'>, starts: readonly string[]): Promise<readonly string[]> {
  const found = await mapConcurrently(starts, listingsAtOnce, async (start) => {
    const keys: string[] = [];
    for await (const { key } of objects.list(start)) keys.push(key);
    return keys;
  });
  return found.flat();
}
