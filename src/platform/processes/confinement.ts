/** The side of the process that `runConfined` starts: it confines itself before it reads a byte of its input. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

/** The exit code of a program that met its limit and could report it. */
export const exceededCode = 77;
/** Of processor time. The parent ends the process earlier, unless the parent was killed. */
const mostProcessorS = 60;

/** Runs `work` on the input of the process within its limits, and writes the result. Load large modules before. */
export async function startConfined(work: (input: Buffer, args: readonly string[]) => Promise<string>): Promise<void> {
  const [memoryBytes, ...args] = process.argv.slice(2);
  if (process.platform === 'linux') confine(Number(memoryBytes));
  const result = await work(await buffer(process.stdin), args);
  process.stdout.write(result, () => process.exit(0));
}

/**
 * The kernel counts writable memory, of which V8 reserves a lot at the start and uses little. So the limit is what the
 * process has reserved now plus what it may still use. Without `prlimit` the parent watches the memory.
 */
function confine(memoryBytes: number): void {
  // If the machine or the container runs out of memory, this process ends first.
  ignoreFailure(() => writeFileSync('/proc/self/oom_score_adj', '1000'));
  const status = readFileSync('/proc/self/status', 'utf8');
  const bytesOf = (field: RegExp) => Number(field.exec(status)?.[1]) * 1024;
  const data = bytesOf(/VmData:\s+(\d+)/) + memoryBytes - bytesOf(/VmRSS:\s+(\d+)/);
  if (!Number.isFinite(data)) return;
  spawnSync('prlimit', ['--pid', String(process.pid), `--data=${data}`, `--cpu=${mostProcessorS}`, '--core=0']);
}

function ignoreFailure(work: () => void): void {
  try {
    work();
  } catch {
    // A container can forbid it.
  }
}
