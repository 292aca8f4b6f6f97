/** Refreshes in progress and completed, and pending revocations: the only SQL of the authentication service. */
import { sql } from 'kysely';
import { deleteBatch } from '#platform/background/removal.ts';
import { type Db, hasChanged, type Tx } from '#platform/db/db.ts';
import type { AuthTables } from './tables.ts';

type Handle = Db<AuthTables>;
type AnyHandle = Handle | Tx<AuthTables>;

const inMs = (ms: number) => sql<Date>`now() + make_interval(secs => ${ms / 1000})`;
const isOver = sql<boolean>`session_refreshes.expires_at <= now()`;

/**
 * Returns `true` if this attempt may call the provider, for at most `ttlMs`. Failures are not stored: only callers that were already
 * waiting receive them, and a new call may try again.
 */
export async function claimRefresh(db: Handle, tokenHash: Buffer, attempt: string, ttlMs: number): Promise<boolean> {
  const claim = { attempt, outcome: null, sealed: null, successor_hash: null, subject_hash: null };
  return db
    .insertInto('session_refreshes')
    .values({ token_hash: tokenHash, ...claim, expires_at: inMs(ttlMs) })
    .onConflict((conflict) =>
      conflict
        .column('token_hash')
        .doUpdateSet({ ...claim, expires_at: inMs(ttlMs) })
        .where((eb) => eb.or([isOver, eb('session_refreshes.outcome', 'in', ['expired', 'unavailable'])])),
    )
    .$call(hasChanged);
}

export function findRefresh(db: Handle, tokenHash: Buffer) {
  return db
    .selectFrom('session_refreshes')
    .select(['outcome', 'sealed'])
    .where('token_hash', '=', tokenHash)
    .where(sql<boolean>`expires_at > now()`)
    .executeTakeFirst();
}

export interface Settled {
  readonly outcome: 'ok' | 'expired' | 'unavailable';
  readonly sealed?: string;
  readonly successorHash?: Buffer;
  readonly subjectHash?: Buffer | undefined;
}

/** Does nothing if the claim expired and another attempt holds it, or if a logout happened in between. */
export async function settleRefresh(
  db: Handle,
  tokenHash: Buffer,
  attempt: string,
  settled: Settled,
  keptMs: number,
): Promise<void> {
  await db
    .updateTable('session_refreshes')
    .set({
      outcome: settled.outcome,
      sealed: settled.sealed ?? null,
      successor_hash: settled.successorHash ?? null,
      subject_hash: settled.subjectHash ?? null,
      expires_at: inMs(keptMs),
    })
    .where((eb) => eb.and({ token_hash: tokenHash, attempt }))
    .where('outcome', 'is', null)
    .execute();
}

/** Deletes the results of a session: those of this token, of its successor, and of the same user. */
export async function dropRefreshes(db: Handle, tokenHash: Buffer, subjectHash: Buffer | undefined): Promise<void> {
  const relatedSubjects = db
    .selectFrom('session_refreshes')
    .select('subject_hash')
    .where((eb) => eb.or([eb('token_hash', '=', tokenHash), eb('successor_hash', '=', tokenHash)]));
  await db
    .deleteFrom('session_refreshes')
    .where((eb) =>
      eb.or([
        eb('token_hash', '=', tokenHash),
        eb('successor_hash', '=', tokenHash),
        eb('subject_hash', 'in', relatedSubjects),
        ...(subjectHash === undefined ? [] : [eb('subject_hash', '=', subjectHash)]),
      ]),
    )
    .where((eb) => eb.or([eb('outcome', 'is', null), eb('outcome', '<>', 'signed_out')]))
    .execute();
}

/** Marks the token as revoked here, regardless of the provider's response. */
export async function markTokenRevoked(db: Handle, tokenHash: Buffer, attempt: string, ttlMs: number): Promise<void> {
  const revoked = { attempt, outcome: 'signed_out' as const, sealed: null, successor_hash: null, subject_hash: null };
  await db
    .insertInto('session_refreshes')
    .values({ token_hash: tokenHash, ...revoked, expires_at: inMs(ttlMs) })
    .onConflict((conflict) => conflict.column('token_hash').doUpdateSet({ ...revoked, expires_at: inMs(ttlMs) }))
    .execute();
}

/** Deletes results of a token that a sign-in has just issued. */
export async function forgetToken(db: Handle, tokenHash: Buffer): Promise<void> {
  await db.deleteFrom('session_refreshes').where('token_hash', '=', tokenHash).execute();
}

/** Deletes at most `limit` expired rows. Returns how many. */
export async function sweepRefreshes(db: Handle, limit: number): Promise<number> {
  return deleteBatch(db, 'session_refreshes', ['token_hash'], sql`${isOver} order by expires_at limit ${limit}`);
}

/** Returns the id of the new row. */
export async function addRevocation(tx: Tx<AuthTables>, sealed: string, scope: 'global' | 'local'): Promise<string> {
  const row = await tx
    .insertInto('session_revocations')
    .values({ sealed, scope })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

export function findRevocation(db: Handle, id: string) {
  return db
    .selectFrom('session_revocations')
    .select(['sealed', 'scope', 'created_at as createdAt'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Stores the token that replaces a used one. Does nothing if another worker has stored a newer one. */
export async function replaceRevocation(db: Handle, id: string, sealed: string, replacement: string): Promise<void> {
  await db
    .updateTable('session_revocations')
    .set({ sealed: replacement })
    .where((eb) => eb.and({ id, sealed }))
    .execute();
}

export async function removeRevocation(db: AnyHandle, id: string): Promise<void> {
  await db.deleteFrom('session_revocations').where('id', '=', id).execute();
}

// Sessions that an operator ended: those of a user whose cookie was sealed before.

export async function writeSessionsEnd(db: AnyHandle, subjectHash: Buffer): Promise<void> {
  await db
    .insertInto('ended_sessions')
    .values({ subject_hash: subjectHash, ended_at: sql`clock_timestamp()` })
    .onConflict((conflict) => conflict.column('subject_hash').doUpdateSet({ ended_at: sql<Date>`clock_timestamp()` }))
    .execute();
}

/** `userId`: of the subject, if it can have a profile. `readAt`: no end before it is missing in the result. */
export async function findSessionsEnd(db: Db<AuthTables>, subjectHash: Buffer, userId?: string) {
  const { rows } = await sql<{ readonly endedAt: Date | null; readonly isBlocked: boolean; readonly readAt: Date }>`
    select now() as "readAt", (select ended_at from ended_sessions where subject_hash = ${subjectHash}) as "endedAt",
      exists (select from user_profiles where id = ${userId ?? null}::uuid and blocked_at is not null) as "isBlocked"`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a select without a table returns a row');
  return row;
}

// Sessions that users list and end.

export interface SessionUse {
  readonly sessionId: string;
  readonly userId: string;
  readonly browser: string;
}

/**
 * Records that the session is in use, unless its user or an operator has ended it. `since`: when the request was checked; a session that
 * an operator ended after that gets no row, so that an erasure leaves none. Returns whether its user has ended it.
 */
export async function recordSessionUse(
  db: Db<AuthTables>,
  { sessionId, userId, browser }: SessionUse,
  subjectHash: Buffer,
  since: Date,
): Promise<boolean> {
  const { rows } = await sql<{ readonly isEnded: boolean }>`
    with used as (
      insert into browser_sessions (session_id, user_id, browser)
      select ${sessionId}::uuid, ${userId}::uuid, ${browser}::text
      where not exists (
        select from ended_sessions where subject_hash = ${subjectHash} and ended_at >= ${since})
      on conflict (session_id) do update set used_at = now(), browser = excluded.browser
        where browser_sessions.ended_at is null and browser_sessions.user_id = excluded.user_id
    )
    select exists (select from browser_sessions where session_id = ${sessionId}::uuid and ended_at is not null) as "isEnded"`.execute(
    db,
  );
  return rows[0]?.isEnded === true;
}

/** The last used first, without those that have ended. */
export function listSessions(db: Db<AuthTables>, userId: string, limit: number) {
  return db
    .selectFrom('browser_sessions')
    .select(['session_id as id', 'browser', 'created_at as createdAt', 'used_at as usedAt'])
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .orderBy('used_at', 'desc')
    .limit(limit)
    .execute();
}

/** Returns `false` if the user has no such session. */
export async function endSession(db: Db<AuthTables>, userId: string, sessionId: string): Promise<boolean> {
  return db
    .updateTable('browser_sessions')
    .set({ ended_at: sql<Date>`coalesce(ended_at, now())` })
    .where((eb) => eb.and({ user_id: userId, session_id: sessionId }))
    .$call(hasChanged);
}

/** All but the one. */
export async function endOtherSessions(db: Db<AuthTables>, userId: string, sessionId: string): Promise<void> {
  await db
    .updateTable('browser_sessions')
    .set({ ended_at: sql<Date>`now()` })
    .where('user_id', '=', userId)
    .where('session_id', '<>', sessionId)
    .where('ended_at', 'is', null)
    .execute();
}

/** After a sign-out: those of the user, or one. A session that its user ended stays refused. */
export async function removeSessions(db: AnyHandle, userId: string, sessionId: string | undefined): Promise<void> {
  await db
    .deleteFrom('browser_sessions')
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .$if(sessionId !== undefined, (query) => query.where('session_id', '=', sessionId ?? ''))
    .execute();
}

/** Deletes at most `limit` rows that were not used for `days`. Returns how many. */
export async function sweepSessions(db: Db<AuthTables>, days: number, limit: number): Promise<number> {
  const old = sql`used_at < now() - make_interval(days => ${days})`;
  return deleteBatch(db, 'browser_sessions', ['session_id'], sql`${old} order by used_at limit ${limit}`);
}
