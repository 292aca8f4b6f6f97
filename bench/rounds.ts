/** Processor time of several ways to do a thing, measured in turns. */
import { setTimeout } from 'node:timers/promises';
import { median } from './bench.ts';

export interface Case {
  /** Not measured. */
  readonly prepare?: () => Promise<unknown>;
  readonly work: () => Promise<unknown>;
  /** CPU time used so far by the measured process, by default this one. */
  readonly cpuMs?: () => Promise<number>;
}

/** Threads that clean up after the answer belong to the work. */
const settlingMs = 20;

export interface Spent<Name extends string> {
  /** How many times the CPU of `other` one of the cases takes: the median of the rounds. */
  ratio(name: Name, other: Name): number;
  /** The CPU of one case in milliseconds: the median of the rounds. */
  median(name: Name): number;
}

/**
 * The CPU of each case. The cases take turns, and those of one round are compared with each other, so that whatever else
 * the machine does meets all alike; the first rounds, in which the code is still being compiled, are thrown away: what is
 * done thousands of times in a process needs more of them.
 */
export async function compareCpu<Name extends string>(
  rounds: number,
  cases: Readonly<Record<Name, Case>>,
  warmUpRounds = 3,
): Promise<Spent<Name>> {
  const names = Object.keys(cases) as Name[];
  const spent: Record<Name, number>[] = [];
  for (let round = -warmUpRounds; round < rounds; round++) {
    // Each goes first in turn: what ran just before leaves its traces in the caches.
    names.push(...names.splice(0, 1));
    const inRound: [Name, number][] = [];
    for (const name of names) {
      const { prepare, work, cpuMs = ownCpuMs } = cases[name];
      await prepare?.();
      await setTimeout(settlingMs);
      const before = await cpuMs();
      await work();
      await setTimeout(settlingMs);
      inRound.push([name, (await cpuMs()) - before]);
    }
    if (round >= 0) spent.push(Object.fromEntries(inRound) as Record<Name, number>);
  }
  return {
    ratio: (name, other) => median(spent.map((inRound) => inRound[name] / inRound[other])),
    median: (name) => median(spent.map((inRound) => inRound[name])),
  };
}

export async function ownCpuMs(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
