/** The digests of documents that exceeded the limits of their process. Rows have no owner and are never removed. */
import type { Generated } from 'kysely';
import type { Db } from '#platform/db/db.ts';

export interface UnreadableTables {
  agent_unreadable_documents: { sha256: string; created_at: Generated<Date> };
}

export async function isUnreadable(db: Db<UnreadableTables>, sha256: string): Promise<boolean> {
  const row = await db
    .selectFrom('agent_unreadable_documents')
    .select('sha256')
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  return row !== undefined;
}

export async function rememberUnreadable(db: Db<UnreadableTables>, sha256: string): Promise<void> {
  await db
    .insertInto('agent_unreadable_documents')
    .values({ sha256 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
