/** What every benchmark here is: a few rows, each a ratio against a peer or a limit, measured in one run. */

export interface Row {
  readonly goal: string;
  readonly measured: number;
  /** `at least 50`, `at most 0.6` */
  readonly bound: string;
  readonly against: string;
  readonly holds: boolean;
}

export interface Bench {
  readonly name: string;
  /** `part`: words in the names of the rows that are wanted, where a benchmark can measure these alone. */
  run(part: string): Promise<Row[]>;
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
