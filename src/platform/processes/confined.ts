/**
 * Runs a program of this source tree on hostile input, in a process of its own. Memory outside of V8's heap, such as
 * ArrayBuffers and WebAssembly, escapes `resourceLimits` of a worker thread, but no limit of the operating system.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// The side of the process that `runConfined` starts: it confines itself before it reads a byte of its input.

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

interface Confinement {
  readonly input: Uint8Array;
  readonly args?: readonly string[];
  /** All memory of the process, about 50 MiB of Node's own included. */
  readonly memoryBytes: number;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

/** The input takes more memory or time than allowed. A retry would find the same. */
export class ConfinementExceeded extends Error {
  constructor(what: string) {
    super(`the process exceeded its limit of ${what}`);
    this.name = 'ConfinementExceeded';
  }
}

/** The start of Node. What a document may allocate at once is far less than this machine can in such a time. */
const watchEveryMs = process.platform === 'linux' ? 25 : 200;
const heapFlags = ['--max-old-space-size=128', '--max-semi-space-size=8'];
/** V8 and Node end so if the heap is full or an allocation fails. */
const fatalSignals: readonly unknown[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGXCPU'];
const fatalCodes: readonly unknown[] = [exceededCode, 132, 133, 134, 139];

/**
 * Returns what the program writes. `program`: the URL of a module that calls `startConfined`. Throws ConfinementExceeded, and an Error
 * if the program fails for another reason.
 */
export async function runConfined(program: URL, options: Confinement): Promise<Buffer> {
  const { input, args = [], memoryBytes, timeoutMs, maxOutputBytes } = options;
  const child = spawn(process.execPath, [...heapFlags, fileURLToPath(program), String(memoryBytes), ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // Ctrl-C in a terminal does not reach it, and it sees no secret.
    detached: true,
    env: { PATH: process.env.PATH },
  });
  let exceeded: string | undefined;
  const end = (what: string) => {
    exceeded ??= what;
    child.kill('SIGKILL');
  };
  const output: Buffer[] = [];
  let outputBytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    outputBytes += chunk.length;
    if (outputBytes <= maxOutputBytes) output.push(chunk);
    else end('output');
  });
  const { promise: ended, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
  child.once('error', reject);
  child.once('close', (...ending) => resolve(ending));
  // The program may end before it has read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const deadline = setTimeout(() => end('time'), timeoutMs);
  const watch = child.pid === undefined ? undefined : watchMemory(child.pid, memoryBytes, () => end('memory'));
  try {
    const [code, signal] = await ended;
    if (exceeded !== undefined) throw new ConfinementExceeded(exceeded);
    if (code === 0) return Buffer.concat(output);
    if (fatalCodes.includes(code) || fatalSignals.includes(signal)) throw new ConfinementExceeded('memory');
    throw new Error(`the process ended with ${String(signal ?? code)}`);
  } finally {
    clearTimeout(deadline);
    clearInterval(watch);
  }
}

/** For systems without `prlimit`, and for memory that a limit on allocations does not count. */
function watchMemory(pid: number, memoryBytes: number, onExceeded: () => void): NodeJS.Timeout {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already.
  }
  let isReading = false;
  const timer = setInterval(async () => {
    if (isReading) return;
    isReading = true;
    const bytes = await residentBytes(pid).catch(() => 0);
    isReading = false;
    if (bytes > memoryBytes) onExceeded();
  }, watchEveryMs);
  return timer;
}

const pageBytes = 4096;

async function residentBytes(pid: number): Promise<number> {
  if (process.platform === 'linux')
    return Number((await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')[1]) * pageBytes;
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) * 1024;
}
