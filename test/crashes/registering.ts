/**
 * A process that registers one uploaded picture and is killed on the way: `node registering.ts <JSON of Orders>`. Prints
 * the outcome when it lives to see it.
 */
import { createPermits } from '#image/engine/permits.ts';
import { createEngine } from '#image/engine/working.ts';
import { type RegistrationRequest, registrationRequest } from '#media/api.ts';
import { type RegistrationDeps, registerAsset } from '#media/registration.ts';
import { type MediaTables, mediaMigrations } from '#media/store.ts';
import { interrupted } from '#media/test-interruption.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { openFilesystem } from '#platform/objects/filesystem.ts';
import { Problem } from '#platform/problem.ts';

export interface Orders {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly request: unknown;
  /** The process is killed before its call of an engine of this number, from 1. */
  readonly killAt: number;
}

export function openObjects(dataDir: string) {
  return openFilesystem({
    bucket: 'objects',
    root: `${dataDir}/objects`,
    stagingFolder: `${dataDir}/incoming`,
    clock: systemClock,
  });
}

export function openRecords({ databaseUrl, dataDir }: Pick<Orders, 'databaseUrl' | 'dataDir'>): Promise<Database> {
  const log = createLog({ level: 'silent' });
  return openDatabase({ url: databaseUrl, dataDir, migrations: [mediaMigrations], log, poolSize: 2 });
}

export function registrationDeps(database: Database, dataDir: string): RegistrationDeps {
  return {
    db: database.queries<MediaTables>(),
    objects: openObjects(dataDir),
    engine: createEngine({ maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 1, permitWaitMs: 5000 }),
    pictures: createPermits({ count: 1, waitMs: 5000 }),
    limits: { maxImageBytes: 1e6, maxVideoBytes: 1e6 },
  };
}

/** `created`, `replayed`, or the code of the problem. */
export async function outcomeOf(deps: RegistrationDeps, request: RegistrationRequest): Promise<string> {
  try {
    const { created } = await registerAsset(deps, { kind: 'internal' }, request);
    return created ? 'created' : 'replayed';
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

async function obey(orders: Orders): Promise<void> {
  const database = await openRecords(orders);
  let calls = 0;
  const deps = interrupted(registrationDeps(database, orders.dataDir), ({ call }) => {
    if (call.startsWith('before') && ++calls === orders.killAt) process.kill(process.pid, 'SIGKILL');
  });
  console.log(await outcomeOf(deps, registrationRequest.parse(orders.request)));
  await database.close();
}

const [, program, orders] = process.argv;
if (program === import.meta.filename && orders !== undefined) await obey(JSON.parse(orders));
