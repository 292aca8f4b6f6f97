/** Starts Atelier as a user does, in a process of its own with a data folder and ports of its own. Knows only addresses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

export interface Program {
  readonly child: ChildProcess;
  /** Everything printed so far, both streams. */
  output(): string;
  /** The exit code; rejects with the output when the program outlives the limit. */
  ended(limitMs?: number): Promise<number | null>;
  /** Resolves when the output contains the text; rejects when the program ends before. */
  said(text: string, limitMs?: number): Promise<void>;
}

/** Runs `npm run <command>` without npm: the launcher itself, signals included. */
export function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Program {
  const inherited = { PATH: process.env.PATH, HOME: process.env.HOME };
  const child = spawn(process.execPath, [join(root, 'launch.mjs'), command, ...args], {
    cwd: root,
    env: { ...inherited, ...env },
  });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  child.stderr.on('data', (chunk) => (printed += chunk));
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  const within = <T>(promise: Promise<T>, limitMs: number, what: string) => {
    const late = new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error(`${what} not within ${limitMs} ms:\n${printed}`)), limitMs).unref(),
    );
    return Promise.race([promise, late]);
  };
  return {
    child,
    output: () => printed,
    ended: (limitMs = 30_000) => within(exit, limitMs, 'end'),
    said: (text, limitMs = 60_000) => {
      const seen = new Promise<void>((resolve, reject) => {
        const look = () => printed.includes(text) && resolve();
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        exit.then(() =>
          printed.includes(text) ? resolve() : reject(new Error(`ended without saying "${text}":\n${printed}`)),
        );
        look();
      });
      return within(seen, limitMs, `"${text}"`);
    },
  };
}

export interface Place {
  readonly env: Readonly<Record<string, string>>;
  readonly portBase: number;
  readonly dataDir: string;
  remove(): Promise<void>;
}

/** A new data folder and a free block of ports. */
export async function newPlace(): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), 'atelier-test-'));
  const portBase = await freePortBase();
  return {
    dataDir,
    portBase,
    env: { ATELIER_DATA_DIR: dataDir, ATELIER_PORT_BASE: String(portBase) },
    remove: () => rm(dataDir, { recursive: true, force: true }),
  };
}

/** The first of 13 free ports in a row, above the last that `fetch` refuses (10080) and below the range from which systems hand out ports by themselves. */
export async function freePortBase(): Promise<number> {
  for (;;) {
    const base = 10_100 + Math.floor(Math.random() * 1_500) * 14;
    const free = await Promise.all(Array.from({ length: 13 }, (_, offset) => isFree(base + offset)));
    if (free.every(Boolean)) return base;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
