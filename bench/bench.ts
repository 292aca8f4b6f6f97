/** What every benchmark here is: a few rows, each a ratio against a peer or a limit, measured in one run. */

export interface Row {
  readonly goal: string;
  readonly measured: number;
  /** `at least 50`, `at most 0.6` */
  readonly bound: string;
  readonly against: string;
  readonly holds: boolean;
}

/** A row that this machine cannot measure. */
export interface Skipped {
  readonly goal: string;
  /** What is missing, and how to install it. */
  readonly skipped: string;
}

export type Outcome = Row | Skipped;

export interface Bench {
  /**
   * Yields each row when it is measured. `part`: words in the names of the rows that are wanted, where a benchmark can measure these
   * alone.
   */
  run(part: string): AsyncIterable<Outcome> | Promise<Iterable<Outcome>>;
}

/** A program, a server or a package that a benchmark measures against or works with. */
export interface Need {
  readonly name: string;
  readonly install: string;
  isThere(): Promise<boolean>;
}

/** An entry of the list of benchmarks. Its module is loaded only in the process that measures it. */
export interface Entry {
  readonly name: string;
  /** Those of all of its rows. */
  readonly needs?: readonly Need[];
  /** The time after which it counts as broken. */
  readonly deadlineMs?: number;
  load(): Promise<Bench>;
}

type Claim = Pick<Row, 'goal' | 'measured' | 'against'>;

export const atLeast = (bound: number, claim: Claim): Row => ({
  ...claim,
  bound: `at least ${bound}`,
  holds: claim.measured >= bound,
});

export const atMost = (bound: number, claim: Claim): Row => ({
  ...claim,
  bound: `at most ${bound}`,
  holds: claim.measured <= bound,
});

/** Returns a skipped row if one of the needs is missing. */
export async function skipWithout(goal: string, ...needs: readonly Need[]): Promise<Skipped | undefined> {
  for (const { name, install, isThere } of needs)
    if (!(await isThere())) return { goal, skipped: `${name} is missing: ${install}` };
  return undefined;
}

/** Processor time of this process, in microseconds. */
export async function cpuMicrosOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
