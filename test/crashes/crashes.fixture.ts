/** Kills child processes at different steps of an operation. The database and the data folder survive them. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Database } from '#platform/db/db.ts';
import { createPostgresDatabase, type DatabaseEngine, laneEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { type CrashPlace, type Lived, openRecords } from './dying.fixture.ts';

export interface Deaths<What> {
  /** What processes worked on that were killed; at least one. */
  readonly killed: readonly What[];
  readonly lived: readonly What[];
  /** Of those that lived. */
  readonly outcomes: readonly string[];
}

export interface CrashRig {
  /** Valid while tests run. */
  readonly dataDir: string;
  openDatabase(): Promise<Database>;
  /** `undefined`: it was killed. */
  run(program: string, orders: object): Promise<Lived | undefined>;
  /**
   * Runs one process to its end, to count its calls, then kills one process before each of these calls (see `stepsOf`).
   * `prepare` makes the input of a process.
   */
  killAtSteps<What>(
    prepare: () => Promise<What>,
    attempt: (what: What, killAt: number) => Promise<Lived | undefined>,
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
  let server: Awaited<ReturnType<typeof createPostgresDatabase>>;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'atelier-crash-'));
    server = await (name === 'postgres' ? createPostgresDatabase() : embedded());
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
    killAtSteps: async (prepare, attempt) => {
      const first = await prepare();
      const whole = await attempt(first, 0);
      if (whole === undefined) throw new Error('a process died that was to live');
      const deaths = { killed: [] as (typeof first)[], lived: [first], outcomes: [whole.outcome] };
      for (const step of stepsOf(whole.calls, name)) {
        const what = await prepare();
        const end = await attempt(what, step);
        (end === undefined ? deaths.killed : deaths.lived).push(what);
        if (end !== undefined) deaths.outcomes.push(end.outcome);
      }
      expect(deaths.killed).not.toEqual([]);
      return deaths;
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
