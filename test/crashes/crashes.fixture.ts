/** Kills child processes at different steps of an operation. The database and the data folder survive them. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import {
  createMigratedDatabase,
  type DatabaseEngine,
  laneEngines,
  type PostgresDatabase,
} from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { type CrashPlace, type Lived, openRecords } from './dying.fixture.ts';

export interface Deaths<What> {
  /** What processes worked on that were killed; at least one. */
  readonly killed: readonly What[];
  readonly lived: readonly What[];
  /** Of those that lived. */
  readonly outcomes: readonly string[];
  /** How many calls of engines a whole process makes. */
  readonly calls: number;
}

export interface CrashRig {
  /** Valid while tests run. */
  readonly dataDir: string;
  openDatabase(): Promise<Database>;
  /** `undefined`: it was killed. */
  run(program: string, orders: object): Promise<Lived | undefined>;
  /**
   * Runs one process to its end, to count its calls, then kills one process before each of these calls (see `stepsOf`).
   * `prepare` makes the input of a process. If `calls` is known from an earlier series, no process runs to its end.
   */
  killAtSteps<What>(
    prepare: () => Promise<What>,
    attempt: (what: What, killAt: number) => Promise<Lived | undefined>,
    calls?: number,
  ): Promise<Deaths<What>>;
}

/** Declares the suite on each engine of the lane, with its own database and folder. */
export function onEveryDatabase(title: string, suite: (rig: CrashRig) => void, { skip = false } = {}): void {
  for (const engine of laneEngines)
    describe.skipIf(skip || engine.missing)(`${title}, on ${engine.name}`, () => suite(layPlace(engine)));
}

const embedded = async () => ({ url: 'embedded', drop: async () => undefined });

function layPlace({ name }: DatabaseEngine): CrashRig {
  let dataDir: string;
  let server: PostgresDatabase;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'atelier-crash-'));
    server = await (name === 'postgres' ? createMigratedDatabase(migrations) : embedded());
  });
  afterAll(async () => {
    await server.drop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const place = (): CrashPlace => ({ databaseUrl: server.url, dataDir });
  return {
    get dataDir() {
      return dataDir;
    },
    openDatabase: () => openRecords(place()),
    run: (program, orders) => runProgram(program, { ...place(), ...orders }),
    async killAtSteps<What>(
      prepare: () => Promise<What>,
      attempt: (what: What, killAt: number) => Promise<Lived | undefined>,
      known?: number,
    ) {
      const [killed, lived, outcomes]: [What[], What[], string[]] = [[], [], []];
      const runOne = async (killAt: number) => {
        const what = await prepare();
        const end = await attempt(what, killAt);
        (end === undefined ? killed : lived).push(what);
        if (end !== undefined) outcomes.push(end.outcome);
        return end;
      };
      const calls = known ?? (await runOne(0))?.calls;
      if (calls === undefined) throw new Error('a process died that was to live');
      for (const step of stepsOf(calls, name)) await runOne(step);
      expect(killed).not.toEqual([]);
      return { killed, lived, outcomes, calls };
    },
  };
}

/**
 * Nightly lane: every step on PostgreSQL; the first, the middle and the last one on PGlite, whose folder is slow to open.
 * Quick lane: the middle step.
 */
function stepsOf(calls: number, engine: DatabaseEngine['name']): readonly number[] {
  const middle = Math.ceil(calls / 2);
  if (isNightly && engine === 'postgres') return Array.from({ length: calls }, (_, index) => index + 1);
  return isNightly ? [...new Set([1, middle, calls])] : [middle];
}

function runProgram(program: string, orders: object): Promise<Lived | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Lived | undefined>();
  execFile(process.execPath, [program, JSON.stringify(orders)], (error, stdout) => {
    if (error?.signal === 'SIGKILL') resolve(undefined);
    else if (error) reject(error);
    else resolve(JSON.parse(stdout) as Lived);
  });
  return promise;
}
