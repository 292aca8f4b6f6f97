/**
 * A process that registers one uploaded picture and is killed on the way: `node registering.ts <Orders as JSON>`. Prints
 * the outcome when it lives to see it.
 */

import { migrations } from '#app/migrations.ts';
import { registrationRequest } from '#media/api.ts';
import type { Database } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { interrupted } from './interruption.fixture.ts';
import { outcomeOf, registrationDeps } from './registering.fixture.ts';

export interface Orders {
  readonly databaseUrl: string;
  /** Of the embedded database, and of the objects. */
  readonly dataDir: string;
  readonly request: unknown;
  /** The process is killed before its call of an engine of this number, from 1. */
  readonly killAt: number;
  /** Of prohibited pictures. */
  readonly blockedHashes?: string | undefined;
}

export function openRecords({ databaseUrl, dataDir }: Pick<Orders, 'databaseUrl' | 'dataDir'>): Promise<Database> {
  const log = createLog({ level: 'silent' });
  return openDatabase({ url: databaseUrl, dataDir, migrations, log, poolSize: 2 });
}

async function obey(orders: Orders): Promise<void> {
  const database = await openRecords(orders);
  let calls = 0;
  const deps = interrupted(registrationDeps(database, orders.dataDir, orders), ({ call }) => {
    if (call.startsWith('before') && ++calls === orders.killAt) process.kill(process.pid, 'SIGKILL');
  });
  console.log(await outcomeOf(deps, registrationRequest.parse(orders.request)));
  await database.close();
}

const [, program, orders] = process.argv;
if (program === import.meta.filename && orders !== undefined) await obey(JSON.parse(orders));
