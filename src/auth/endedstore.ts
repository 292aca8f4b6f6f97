/** Sessions that an operator ended: those of a user whose cookie was sealed before. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';

export interface EndedTables {
  ended_sessions: { subject_hash: Buffer; ended_at: Date };
}

export async function writeSessionsEnd(db: Db<EndedTables>, subjectHash: Buffer): Promise<void> {
  await db
    .insertInto('ended_sessions')
    .values({ subject_hash: subjectHash, ended_at: sql`clock_timestamp()` })
    .onConflict((conflict) => conflict.column('subject_hash').doUpdateSet({ ended_at: sql<Date>`clock_timestamp()` }))
    .execute();
}

/** `readAt`: no end before it is missing in the result. */
export async function findSessionsEnd(db: Db<EndedTables>, subjectHash: Buffer) {
  const { rows } = await sql<{ readonly endedAt: Date | null; readonly readAt: Date }>`
    select now() as "readAt", (select ended_at from ended_sessions where subject_hash = ${subjectHash}) as "endedAt"`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a select without a table returns a row');
  return row;
}

export async function readNow(db: Db<EndedTables>): Promise<Date | undefined> {
  const { rows } = await sql<{ readonly now: Date }>`select now() as now`.execute(db);
  return rows[0]?.now;
}
