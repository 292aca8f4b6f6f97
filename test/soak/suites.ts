/** Two processes of the whole suite over shared engines, and one with the stand-ins. Each may be killed and restarted. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { root } from '../acceptance/running.fixture.ts';
import { programEnv, programPath } from '../programs.fixture.ts';

export interface Suite {
  readonly portBase: number;
  /** `undefined` before the first start. */
  pid(): number | undefined;
  /** Resident memory in bytes, or undefined while it is down. */
  residentBytes(): number | undefined;
  /** CPU time of all its threads in milliseconds. Linux only. */
  cpuMs(): number;
  kill(): Promise<void>;
  /** Restarts it and resolves when it is ready. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Error lines of its log, from all restarts. */
  readonly errors: readonly string[];
}

/** Time limit for becoming ready on a busy machine. */
const readyWithinMs = 180_000;

export async function startSuite(
  services: readonly string[],
  portBase: number,
  env: Readonly<Record<string, string>>,
): Promise<Suite> {
  const errors: string[] = [];
  let child: ChildProcess | undefined;
  const start = async () => {
    // Starts the process without the launcher, which would forward signals and let it end cleanly.
    const started = spawn(process.execPath, [programPath, 'start', ...services], {
      cwd: root,
      env: { ...programEnv, LOG_LEVEL: 'warn', ...env, ATELIER_PORT_BASE: String(portBase) },
    });
    child = started;
    let printed = '';
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`not ready in time:\n${printed}`)), readyWithinMs);
      const look = (chunk: Buffer) => {
        const text = String(chunk);
        printed = (printed + text).slice(-20_000);
        errors.push(...text.split('\n').filter((line) => line.includes('"level":"error"')));
        if (!printed.includes('Atelier is ready')) return;
        clearTimeout(late);
        resolve();
      };
      started.stdout.on('data', look);
      started.stderr.on('data', look);
      started.once('exit', () => reject(new Error(`ended before it was ready:\n${printed}`)));
    });
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    portBase,
    errors,
    pid: () => child?.pid,
    residentBytes: () => residentOf(child),
    cpuMs: () => cpuMsOf(child),
    kill: () => end('SIGKILL'),
    start,
    stop: () => end('SIGTERM'),
  };
}

function residentOf(child: ChildProcess | undefined): number | undefined {
  try {
    const status = readFileSync(`/proc/${child?.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  } catch {
    // The process is down, or this is not Linux.
    return undefined;
  }
}

function cpuMsOf(child: ChildProcess | undefined): number {
  const tasks = `/proc/${child?.pid}/task`;
  const spent = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return spent.reduce((sum, nanoseconds) => sum + nanoseconds / 1e6, 0);
}
