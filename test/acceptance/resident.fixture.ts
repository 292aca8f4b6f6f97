/** Memory of a program that runs, with all processes that it started (Linux). */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { Program } from './running.fixture.ts';

/** Resident bytes. */
export async function residentBytes({ child }: Pick<Program, 'child'>): Promise<number> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc'))
    if (/^\d+$/.test(name)) {
      const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    }
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === child.pid || isOurs(parents.get(pid)));
  let bytes = 0;
  for (const pid of parents.keys())
    if (isOurs(pid))
      bytes += Number((await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')).split(' ')[1] ?? 0) * 4096;
  return bytes;
}

/** The most resident bytes while `work` runs. */
export async function peakOf(program: Pick<Program, 'child'>, work: () => Promise<unknown>): Promise<number> {
  let [peak, isDone] = [0, false];
  const sampling = (async () => {
    while (!isDone) peak = Math.max(peak, await residentBytes(program));
  })();
  await work().finally(() => {
    isDone = true;
  });
  await sampling;
  return peak;
}

/** Bytes that the memory of the program's own process grows by at most while `work` runs. */
export async function growthOf({ child }: Pick<Program, 'child'>, work: () => Promise<unknown>): Promise<number> {
  const bytes = async (name: string) => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  };
  await writeFile(`/proc/${child.pid}/clear_refs`, '5');
  const idle = await bytes('VmRSS');
  await work();
  return (await bytes('VmHWM')) - idle;
}
