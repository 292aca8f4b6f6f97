/** Starts Atelier as a user does, in its own process with its own data folder and ports. Uses only URLs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createProgramDatabase } from '../database.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

export interface Program {
  readonly child: ChildProcess;
  /** Returns all output so far, of both streams. */
  output(): string;
  /** Resolves to the exit code. Rejects with the output if the program does not end in time. */
  ended(limitMs?: number): Promise<number | null>;
  /** Resolves when the output contains the text. Rejects if the program ends before. */
  waitFor(text: string, limitMs?: number): Promise<void>;
}

/** Runs `npm run <command>` without npm: the launcher of the checkout or a release, including its signal handling. */
export function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  folder = root,
): Program {
  const inherited = { PATH: process.env.PATH, HOME: process.env.HOME };
  const child = spawn(process.execPath, [join(folder, 'launch.mjs'), command, ...args], {
    cwd: folder,
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
    waitFor: (text, limitMs = 60_000) => {
      const seen = new Promise<void>((resolve, reject) => {
        const look = () => printed.includes(text) && resolve();
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        exit.then(() =>
          printed.includes(text) ? resolve() : reject(new Error(`ended without printing "${text}":\n${printed}`)),
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

/** Returns a new data folder and a free block of ports. */
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

/**
 * Returns a place whose programs use PostgreSQL in the quick lane, if it is available, and PGlite in the nightly lane. Each program
 * that opens PGlite costs seconds of processor time.
 */
export async function newLanePlace(): Promise<Place> {
  const [place, database] = await Promise.all([newPlace(), createProgramDatabase()]);
  const remove = async () => void (await Promise.all([place.remove(), database.drop()]));
  return { ...place, env: { ...place.env, DATABASE_URL: database.url }, remove };
}
