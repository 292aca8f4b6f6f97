/** Counters of a process, and the times in their histograms. */

/** Numbers by name, such as `requests`. Names like `le 0.1` count what took at most this many seconds. */
export type Counts = Readonly<Record<string, number>>;

/** The counters of a process, which only grow while it lives. */
export interface Counters {
  /** When the process began, in seconds, as it reports it. */
  readonly process: number;
  readonly values: Counts;
}

/** What a process counted between two readings. `undefined`: the earlier reading is of another process, or failed. */
export function countedSince(
  earlier: Counters | undefined,
  { process, values }: Counters,
  earlierAtMs: number,
): Counts | undefined {
  if (earlier?.process === process)
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, value - (earlier.values[name] ?? 0)]),
    );
  // A process that began after the earlier reading has counted everything since.
  return process * 1000 > earlierAtMs ? values : undefined;
}

/**
 * The time in milliseconds that `share` of the values did not exceed, from cumulative buckets, with linear interpolation inside a
 * bucket. `null` without values. Values above the last bound count as the last bound.
 */
export function percentileOf(counts: Counts, share: number, start = 'le '): number | null {
  const buckets = Object.entries(counts)
    .filter(([name]) => name.startsWith(start))
    .map(([name, count]) => ({ bound: Number(name.slice(start.length).replace('+Inf', 'Infinity')), count }))
    .sort((one, other) => one.bound - other.bound);
  const wanted = share * (buckets.at(-1)?.count ?? 0);
  if (wanted === 0) return null;
  const at = buckets.findIndex(({ count }) => count >= wanted);
  const below = buckets[at - 1] ?? { bound: 0, count: 0 };
  const { bound, count } = buckets[at] ?? below;
  if (bound === Infinity) return Math.round(below.bound * 1000);
  return Math.round((below.bound + ((bound - below.bound) * (wanted - below.count)) / (count - below.count)) * 1000);
}
