/** Which installation this is: an id that its database carries. A copy of the database carries it too. */
import { sql } from 'kysely';
import type { Db } from './db.ts';

interface InstallationTables {
  installation: { is_only: boolean; id: string };
}

/** Made at the first asking, not by the migration: new embedded databases are copies of one template. */
export async function installationId(db: Db<InstallationTables>): Promise<string> {
  await sql`insert into installation default values on conflict do nothing`.execute(db);
  return (await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
}
