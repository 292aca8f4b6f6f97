/** The id of the installation, a row of its database. A copy of the database has the same id. */
import { sql } from 'kysely';
import type { Db } from './db.ts';

interface InstallationTables {
  installation: { is_only: boolean; id: string };
}

/** Created by the first call, not by the migration: new embedded databases are copies of one template. */
export async function installationId(db: Db<InstallationTables>): Promise<string> {
  await sql`insert into installation default values on conflict do nothing`.execute(db);
  return (await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
}
