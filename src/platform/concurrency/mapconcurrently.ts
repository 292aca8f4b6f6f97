/** Work on many things, a few at a time. */

/** Results in the order of `items`; at most `atOnce` are worked on at a time. The first failure is thrown. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  let hasFailed = false;
  const worker = async () => {
    for (const [index, item] of queue) {
      if (hasFailed) return;
      results[index] = await work(item);
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, worker);
  await Promise.all(workers).catch((error: unknown) => {
    hasFailed = true;
    throw error;
  });
  return results;
}
