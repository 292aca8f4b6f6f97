/** Named numbers that add up: those of two readings, or of two buckets. */

export type Counts = Readonly<Record<string, number>>;
/** By subject, such as `agent` or `queue notify/send`. */
export type CountsBySubject = Readonly<Record<string, Counts>>;

/** Of these numbers the largest counts, not the sum. */
export const largest = 'max ';
/** A request or token that took at most this many seconds: `le 0.1`, `first le 2`. */
export const atMostS = (seconds: string, prefix = '') => `${prefix}le ${seconds}`;

export function addCounts(one: CountsBySubject, other: CountsBySubject): CountsBySubject {
  const sum: Record<string, Counts> = { ...one };
  for (const [subject, counts] of Object.entries(other)) sum[subject] = addNumbers(sum[subject] ?? {}, counts);
  return sum;
}

function addNumbers(one: Counts, other: Counts): Counts {
  const sum: Record<string, number> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const known = sum[name];
    if (known === undefined) sum[name] = value;
    else sum[name] = name.startsWith(largest) ? Math.max(known, value) : known + value;
  }
  return sum;
}

/** The counters of a process, which only grow while it lives. */
export interface Counters {
  /** When the process began, as it reports it. */
  readonly process: string;
  readonly values: Counts;
}

/** What a process counted between two readings. `undefined`: the earlier reading is of another process, which began later or is unknown. */
export function countedSince(
  earlier: Counters | undefined,
  later: Counters,
  earlierReadAtMs: number,
): Counts | undefined {
  if (earlier === undefined) return undefined;
  if (earlier.process === later.process) return subtract(later.values, earlier.values);
  // A process that began after the earlier reading has counted everything since.
  return Number(later.process) * 1000 > earlierReadAtMs ? later.values : undefined;
}

function subtract(later: Counts, earlier: Counts): Counts {
  return Object.fromEntries(
    Object.entries(later).flatMap(([name, value]) => {
      const difference = value - (earlier[name] ?? 0);
      return difference > 0 ? [[name, difference]] : [];
    }),
  );
}

/**
 * The time in seconds that `share` of the values did not exceed, from cumulative buckets, with linear interpolation inside a bucket.
 * `null` without values. Values above the last bound count as the last bound.
 */
export function percentileOf(counts: Counts, share: number, prefix = ''): number | null {
  const start = atMostS('', prefix);
  const buckets = Object.entries(counts)
    .filter(([name]) => name.startsWith(start))
    .map(([name, count]) => ({ bound: name.endsWith('+Inf') ? Infinity : Number(name.slice(start.length)), count }))
    .sort((one, other) => one.bound - other.bound);
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return null;
  let [belowBound, belowCount] = [0, 0];
  for (const { bound, count } of buckets) {
    if (count >= share * total) {
      if (bound === Infinity) return belowBound;
      return belowBound + ((bound - belowBound) * (share * total - belowCount)) / Math.max(1e-9, count - belowCount);
    }
    [belowBound, belowCount] = [bound, count];
  }
  return belowBound;
}
