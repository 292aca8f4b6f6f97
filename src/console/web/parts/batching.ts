/** Lists that are read one after the other often arrive together. */
const gatherMs = 5;

/** Reads what is needed at the same time with one call, of at most `most` ids. `null`: the response does not have it. */
export function batching<T, Context extends readonly unknown[]>(
  most: number,
  read: (ids: readonly string[], ...context: Context) => Promise<Readonly<Record<string, T>>>,
): (id: string, ...context: Context) => Promise<T | null> {
  let open: { readonly ids: Set<string>; readonly answer: ReturnType<typeof read> } | undefined;
  const begin = (...context: Context) => {
    const ids = new Set<string>();
    const waiting = new Promise((resolve) => setTimeout(resolve, gatherMs));
    const answer = waiting.then(() => {
      if (open?.ids === ids) open = undefined;
      return read([...ids], ...context);
    });
    return { ids, answer };
  };
  return async (id, ...context) => {
    if (open === undefined || open.ids.size === most) open = begin(...context);
    const { ids, answer } = open;
    ids.add(id);
    return (await answer)[id] ?? null;
  };
}
