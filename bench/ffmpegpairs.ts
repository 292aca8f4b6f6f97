/** Wall and processor time of work that runs ffmpeg, in pairs with bare ffmpeg. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { promisify } from 'node:util';
import { createFfmpeg, type Ffmpeg } from '../src/media/video/ffmpeg.ts';
import { atMost, median, type Row } from './bench.ts';
import { ownCpuMs } from './rounds.ts';

const run = promisify(execFile);

/** `makeOurs` and `args`, each first in turn. Two rows, each at most `bound`. */
export async function comparePairs(
  { rounds, bound, goal, against }: { rounds: number; bound: number; goal: string; against: string },
  args: readonly string[],
  prepareOurs: () => Promise<() => Promise<unknown>>,
): Promise<Row[]> {
  const spent: { readonly ours: Spent; readonly theirs: Spent }[] = [];
  for (let round = 0; round < rounds; round++) {
    const makeOurs = await prepareOurs();
    const earlier = round % 2 === 0 ? await spentOn(makeOurs) : undefined;
    const theirs = await spentOn(() => runBare(args));
    spent.push({ ours: earlier ?? (await spentOn(makeOurs)), theirs });
  }
  // Of each pair, as the two met nearly the same machine.
  const ratios = (kind: keyof Spent) => spent.map(({ ours, theirs }) => ours[kind] / theirs[kind]);
  return [
    atMost(bound, { goal: `${goal} (time)`, measured: median(ratios('ms')), against }),
    ...(process.platform === 'linux'
      ? [atMost(bound, { goal: `${goal} (processor time)`, measured: median(ratios('cpuMs')), against })]
      : []),
  ];
}

/** At the priority that the service gives it. Otherwise, a busy machine would change the ratio. */
async function runBare(args: readonly string[]): Promise<void> {
  const running = run('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
  setPriority(Number(running.child.pid), constants.priority.PRIORITY_BELOW_NORMAL);
  await running;
}

/** The arguments that `work` passes to ffmpeg, which does not run. */
export async function recordArgs(work: (ffmpeg: Ffmpeg) => Promise<unknown>): Promise<readonly string[]> {
  let recorded: readonly string[] = [];
  await work({
    ...createFfmpeg('ffmpeg'),
    run: async (args) => {
      recorded = args;
    },
  });
  return recorded;
}

interface Spent {
  readonly ms: number;
  readonly cpuMs: number;
}

async function spentOn(work: () => Promise<unknown>): Promise<Spent> {
  const [startedAt, before] = [performance.now(), await familyCpuMs()];
  await work();
  return { ms: performance.now() - startedAt, cpuMs: (await familyCpuMs()) - before };
}

/** Of this process and of its children that have ended (`proc_pid_stat(5)`: cutime and cstime, in hundredths of a second). */
async function familyCpuMs(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'utf8').catch(() => '');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15);
  return (await ownCpuMs()) + 10 * (Number(user ?? 0) + Number(system ?? 0));
}
