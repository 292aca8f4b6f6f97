/** Benchmarks that measure nothing, for the runner. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Entry, type Need, type Row, skipWithout } from '../../bench/bench.ts';

const missing: Need = { name: 'someprogram', install: 'apt-get install someprogram', isThere: async () => false };
const rowOf = (goal: string, measured: number): Row => atMost(1, { goal, measured, against: 'a fake' });

export const benches: readonly Entry[] = [
  { name: 'good', load: async () => ({ run: async () => [rowOf('fast enough', 0.5)] }) },
  { name: 'slow', load: async () => ({ run: async () => [rowOf('too slow', 1.5)] }) },
  {
    name: 'alone',
    needs: [missing],
    load: () => {
      throw new Error('A benchmark without its program is not loaded.');
    },
  },
  {
    name: 'partly',
    load: async () => ({
      async *run() {
        yield rowOf('without a peer', 0.25);
        yield (await skipWithout('with a peer', missing)) ?? rowOf('with a peer', 1);
      },
    }),
  },
  {
    name: 'throws',
    load: async () => ({
      async *run() {
        yield rowOf('before the fault', 0.75);
        throw new Error('the peer returned 500');
      },
    }),
  },
  { name: 'exits', load: async () => ({ run: async () => process.exit(3) }) },
  { name: 'not there', load: async () => import('a-package-that-is-not-there' as string) },
  {
    name: 'hangs',
    deadlineMs: 3000,
    load: async () => ({
      async *run() {
        yield rowOf('before it hangs', 0.125);
        // A program that the benchmark has started ends with it.
        const { pid } = spawn('sleep', ['600'], { stdio: 'ignore' });
        writeFileSync(process.env.FAKE_BENCH_PID_FILE ?? '', String(pid));
        await sleep(600_000);
      },
    }),
  },
  { name: 'last', load: async () => ({ run: async (part: string) => [rowOf(`part ${part}`, 0.0625)] }) },
];
