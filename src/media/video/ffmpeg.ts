/**
 * Runs ffmpeg and ffprobe as child processes. They read public uploads, so each is confined: no shell, an empty
 * environment, no protocol but files, no playlist formats, and limits of time, memory, processor and file size. They
 * die with this process, also by kill -9. On Linux the kernel ensures this (`setpriv --pdeathsig` and `prlimit` of
 * util-linux, which replace themselves by ffmpeg). Elsewhere the limit of processor time does.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { startIdleDeadline } from '#platform/resilience.ts';
import { mediaProblems } from '../problems.ts';

export interface Ffmpeg {
  /** Throws `ffmpeg_missing` unless both programs respond. Cached once they do. */
  check(): Promise<void>;
  /** Returns the output of ffprobe, at most 1 MiB. Throws as `run`. */
  probe(args: readonly string[], options: RunOptions): Promise<string>;
  /**
   * Throws `VideoFault` if ffmpeg cannot process its input, DeadlineExceeded, the reason of `signal`, 503
   * `ffmpeg_missing`, and an Error for faults that a retry may resolve (no disk, killed).
   */
  run(args: readonly string[], options: RunOptions): Promise<void>;
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The limit of any file that it writes; 1 MiB by default. */
  readonly maxOutputBytes?: number;
  /** Gets what the program prints, as it prints it. */
  readonly onOutput?: (text: string) => void;
}

/** A fault of the video, which a retry would find again. */
export class VideoFault extends Error {
  readonly reason: VideoFaultReason;

  constructor(reason: VideoFaultReason, detail: string) {
    super(`${reason}: ${detail}`);
    this.name = 'VideoFault';
    this.reason = reason;
  }
}

export type VideoFaultReason = 'undecodable_video' | 'video_too_large';

/** Precedes each input: only files, in formats that refer to no other files. */
export const guardedInput = [
  ...['-protocol_whitelist', 'file'],
  ...['-format_whitelist', 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,ogg,flv,asf'],
  ...['-max_streams', '32'],
] as const;

/** Threads of each decoder, filter and encoder, limited to leave room for requests. */
export const threads = 2;
/** Each thread of a decoder holds more frames, which are 25 MB each in 4K with 10 bits. */
export const decoderThreads = ({ width, height }: { readonly width: number; readonly height: number }): string =>
  String(width * height > 2560 * 1440 ? 1 : threads);
/** Reserved memory. HDR in 4K and 8K take up to 560 MiB of it, and other videos less than 512 MiB. */
const memoryBytes = 768 * 1024 ** 2;
const MiB = 1024 * 1024;
const maxPrinted = MiB;
const maxErrorOutput = 4096;

/** For operators. */
export const withoutFfmpeg = (path: string) =>
  `no ffmpeg and ffprobe at ${path}: video tasks and video watermarks return 503; install ffmpeg, or check FFMPEG_PATH`;

export function createFfmpeg(path: string): Ffmpeg {
  const ffprobe = path.includes('/') ? join(dirname(path), 'ffprobe') : 'ffprobe';
  /** Whether this machine can confine programs. */
  let found: Promise<boolean> | undefined;

  async function look(): Promise<boolean> {
    const isLinux = process.platform === 'linux';
    const jail = isLinux && (await canRun('setpriv', ['--help'])) && (await canRun('prlimit', ['--version']));
    if (!(await canRun(path, ['-version'])) || !(await canRun(ffprobe, ['-version'])))
      throw mediaProblems.ffmpeg_missing();
    return jail;
  }

  async function check(): Promise<boolean> {
    found ??= look();
    return found.catch((error: unknown) => {
      // It can be installed while this process runs.
      found = undefined;
      throw error;
    });
  }

  async function start(program: string, args: readonly string[], options: RunOptions): Promise<string> {
    const jailed = await check();
    const { maxOutputBytes = MiB, timeoutMs } = options;
    const processorS = Math.ceil((timeoutMs / 1000) * threads);
    const jail = jailed ? jailOf(maxOutputBytes, processorS) : [];
    const [first = program, ...rest] = [...jail, program, ...args];
    return runProgram(first, rest, options);
  }

  return {
    check: async () => {
      await check();
    },
    probe: (args, options) => start(ffprobe, ['-hide_banner', '-v', 'error', ...args], options),
    run: async (args, options) => {
      const common = ['-hide_banner', '-nostdin', '-v', 'error', '-y'];
      const processorS = String(Math.ceil((options.timeoutMs / 1000) * threads));
      await start(path, [...common, '-timelimit', processorS, ...args], options);
    },
  };
}

function jailOf(maxOutputBytes: number, processorS: number): readonly string[] {
  const limits = [`--data=${memoryBytes}`, `--fsize=${maxOutputBytes}`, `--cpu=${processorS}`, '--core=0'];
  return ['setpriv', '--pdeathsig', 'KILL', 'prlimit', ...limits, '--'];
}

async function canRun(program: string, args: readonly string[]): Promise<boolean> {
  return runProgram(program, args, { timeoutMs: 10_000 }).then(
    () => true,
    () => false,
  );
}

/** Its own process group, so that Ctrl-C in a terminal does not reach it: we stop jobs. */
async function runProgram(program: string, args: readonly string[], { timeoutMs, signal, onOutput }: RunOptions) {
  signal?.throwIfAborted();
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { PATH: process.env.PATH, LANG: 'C' },
  });
  const printed: Buffer[] = [];
  let [printedBytes, errorOutput] = [0, ''];
  child.stdout.on('data', (chunk: Buffer) => {
    printedBytes += chunk.length;
    onOutput?.(chunk.toString('latin1'));
    if (printedBytes <= maxPrinted) printed.push(chunk);
    else child.kill('SIGKILL');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString('latin1')).slice(-maxErrorOutput);
  });
  const { promise: ended, resolve, reject } = Promise.withResolvers<Ending>();
  child.once('error', reject);
  child.once('close', (code, killedBy) => resolve({ code, killedBy }));
  const deadline = startIdleDeadline(timeoutMs, signal);
  // The program has always ended when we continue: nothing else can write to its files.
  deadline.signal.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  if (deadline.signal.aborted) child.kill('SIGKILL');
  if (child.pid !== undefined) yieldToRequests(child.pid);
  try {
    const ending = await ended;
    deadline.signal.throwIfAborted();
    assertSucceeded(ending, errorOutput);
    return Buffer.concat(printed).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw mediaProblems.ffmpeg_missing({ cause: error });
    throw error;
  } finally {
    deadline.stop();
  }
}

interface Ending {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
}

const transientErrors = /No space left on device|Too many open files|Resource temporarily unavailable/;
/** The limit of the process. If the machine lacks memory, it kills the process. */
const memoryErrors = /Cannot allocate memory|malloc of size \d+ failed|Out of memory|std::bad_alloc/i;

function assertSucceeded({ code, killedBy }: Ending, errorOutput: string): void {
  if (code === 0) return;
  const detail = `${killedBy ?? `exit ${code}`}: ${errorOutput.trim()}`;
  // SIGKILL comes from outside: the system was out of memory, or an operator ended it.
  if (killedBy === 'SIGKILL' || killedBy === 'SIGTERM' || transientErrors.test(errorOutput)) throw new Error(detail);
  const isTooLarge = killedBy === 'SIGXFSZ' || memoryErrors.test(errorOutput);
  throw new VideoFault(isTooLarge ? 'video_too_large' : 'undecodable_video', detail);
}

function yieldToRequests(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    // If the container runs out of memory, this process ends, and not the service.
    if (process.platform === 'linux') writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // It has ended already, or the container forbids it.
  }
}
