/** Sessions that an operator ended: those of a user whose cookie was sealed before. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';

export interface EndedTables {
  ended_sessions: { subject_hash: Buffer; ended_at: Date };
}

export async function writeSessionsEnd(db: Db<EndedTables>, subjectHash: Buffer, endedAt: Date): Promise<void> {
  await db
    .insertInto('ended_sessions')
    .values({ subject_hash: subjectHash, ended_at: endedAt })
    .onConflict((conflict) =>
      conflict
        .column('subject_hash')
        .doUpdateSet({ ended_at: sql<Date>`greatest(ended_sessions.ended_at, excluded.ended_at)` }),
    )
    .execute();
}

export async function findSessionsEnd(db: Db<EndedTables>, subjectHash: Buffer): Promise<Date | undefined> {
  const row = await db
    .selectFrom('ended_sessions')
    .select('ended_at as endedAt')
    .where('subject_hash', '=', subjectHash)
    .executeTakeFirst();
  return row?.endedAt;
}
