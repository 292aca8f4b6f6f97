/** The child's side of a crash test: a program that does one operation and dies before one of its calls to an engine. */
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import type { Interrupt } from '../media/interruption.fixture.ts';

export interface CrashPlace {
  /** `embedded`: the database of the data folder. */
  readonly databaseUrl: string;
  /** Of the embedded database, and of the objects. */
  readonly dataDir: string;
}

export interface CrashOrders extends CrashPlace {
  /** The process is killed before its call of an engine of this number, from 1. 0: it lives. */
  readonly killAt: number;
}

/** What a process prints that lives to its end. */
export interface Lived {
  readonly outcome: string;
  readonly calls: number;
}

export function openRecords({ databaseUrl, dataDir }: CrashPlace): Promise<Database> {
  const log = createLog({ level: 'silent' });
  return openDatabase({ url: databaseUrl, dataDir, migrations, log, poolSize: 2 });
}

/** Does nothing unless `program` is what was started: `node <program> <orders as JSON>`. */
export async function obey<Orders extends CrashOrders>(
  program: string,
  deed: (orders: Orders, database: Database, interrupt: Interrupt) => Promise<string>,
): Promise<void> {
  const [, started, given] = process.argv;
  if (started !== program || given === undefined) return;
  const orders: Orders = JSON.parse(given);
  const database = await openRecords(orders);
  let calls = 0;
  const outcome = await deed(orders, database, ({ call }) => {
    if (call.startsWith('before') && ++calls === orders.killAt) process.kill(process.pid, 'SIGKILL');
  });
  const lived: Lived = { outcome, calls };
  console.log(JSON.stringify(lived));
  await database.close();
}
