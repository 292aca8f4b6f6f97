/** Processor time of several ways to do a thing, measured in turns. */
import { setTimeout } from 'node:timers/promises';
import { median } from './bench.ts';

export interface Case {
  /** Not measured. */
  readonly prepare?: () => Promise<unknown>;
  readonly work: () => Promise<unknown>;
  /** CPU spent so far by the process at work; this one unless it says otherwise. */
  readonly cpuMs?: () => Promise<number>;
}

const warmUpRounds = 3;
/** Threads that clean up after the answer belong to the work. */
const settlingMs = 20;

/**
 * The median CPU of each case, in milliseconds. The cases take turns, so that whatever else the machine does meets all
 * alike; the first rounds, in which the code is still being compiled, are thrown away.
 */
export async function medianCpuMs<Name extends string>(
  rounds: number,
  cases: Readonly<Record<Name, Case>>,
): Promise<Readonly<Record<Name, number>>> {
  const names = Object.keys(cases) as Name[];
  const spent = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = -warmUpRounds; round < rounds; round++) {
    // Each goes first in turn: what ran just before leaves its traces in the caches.
    names.push(...names.splice(0, 1));
    for (const name of names) {
      const { prepare, work, cpuMs = ownCpuMs } = cases[name];
      await prepare?.();
      await setTimeout(settlingMs);
      const before = await cpuMs();
      await work();
      await setTimeout(settlingMs);
      const after = await cpuMs();
      if (round >= 0) spent[name].push(after - before);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(spent[name])])) as Record<Name, number>;
}

export async function ownCpuMs(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
