/** The digests of documents that exceeded the limits of their process. Rows have no owner and are never removed. */
import type { Db } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';

export async function isUnreadable(db: Db<AgentTables>, sha256: string): Promise<boolean> {
  const row = await db
    .selectFrom('agent_unreadable_documents')
    .select('sha256')
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  return row !== undefined;
}

export async function rememberUnreadable(db: Db<AgentTables>, sha256: string): Promise<void> {
  await db
    .insertInto('agent_unreadable_documents')
    .values({ sha256 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
