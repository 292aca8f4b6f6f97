/** Sign-ins and sessions of the local identity provider: its only SQL. */
import { type Generated, sql } from 'kysely';
import { type Db, hasChanged, type Tx } from '#platform/db/db.ts';

export interface IdpTables {
  idp_flows: {
    id: Generated<string>;
    provider: string;
    redirect_to: string;
    challenge: string;
    challenge_method: 's256' | 'plain';
    created_at: Generated<Date>;
    code: string | null;
    email: string | null;
    consented_at: Date | null;
  };
  idp_sessions: { id: Generated<string>; user_id: string; email: string; created_at: Generated<Date> };
  idp_refresh_tokens: {
    token: string;
    session_id: string;
    parent: string | null;
    created_at: Generated<Date>;
    revoked_at: Date | null;
  };
}

type Handle = Db<IdpTables> | Tx<IdpTables>;

/** How long a sign-in may take, and how long its code is valid. */
const flowMinutes = 10;
const isYoung = sql<boolean>`created_at > now() - make_interval(mins => ${flowMinutes})`;

export interface Flow {
  readonly provider: string;
  readonly redirectTo: string;
  readonly challenge: string;
  readonly challengeMethod: 's256' | 'plain';
}

/** Returns its id. Also deletes flows that ended long ago. */
export async function beginFlow(db: Handle, flow: Flow): Promise<string> {
  await db.deleteFrom('idp_flows').where(sql<boolean>`created_at < now() - interval '1 day'`).execute();
  const { id } = await db
    .insertInto('idp_flows')
    .values({
      provider: flow.provider,
      redirect_to: flow.redirectTo,
      challenge: flow.challenge,
      challenge_method: flow.challengeMethod,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Returns a flow that waits for consent. */
export function findFlow(db: Handle, id: string) {
  return db
    .selectFrom('idp_flows')
    .select(['provider', 'redirect_to as redirectTo'])
    .where('id', '=', id)
    .where('code', 'is', null)
    .where(isYoung)
    .executeTakeFirst();
}

/** Returns the code for the browser, or `undefined` if the flow does not exist or already has consent. */
export function consent(db: Handle, id: string, email: string) {
  return db
    .updateTable('idp_flows')
    .set({ code: sql<string>`gen_random_uuid()`, email, consented_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('code', 'is', null)
    .where(isYoung)
    .returning(['code', 'redirect_to as redirectTo'])
    .executeTakeFirst();
}

export function findByCode(db: Handle, code: string) {
  return db
    .selectFrom('idp_flows')
    .select(['id', 'challenge', 'challenge_method as challengeMethod', 'email', isYoung.as('isYoung')])
    .where('code', '=', code)
    .executeTakeFirst();
}

/** A code is valid once. */
export async function spendFlow(db: Handle, id: string): Promise<boolean> {
  return db.deleteFrom('idp_flows').where('id', '=', id).$call(hasChanged);
}

export async function createSession(
  db: Handle,
  { userId, email, token }: { readonly userId: string; readonly email: string; readonly token: string },
): Promise<string> {
  const { id } = await db
    .insertInto('idp_sessions')
    .values({ user_id: userId, email })
    .returning('id')
    .executeTakeFirstOrThrow();
  await addToken(db, { sessionId: id, token, parent: null });
  return id;
}

export function findSession(db: Handle, id: string) {
  return db.selectFrom('idp_sessions').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Locks the session of a refresh token until the transaction ends, so the second of two concurrent refreshes sees the first. */
export function lockSessionOf(tx: Tx<IdpTables>, token: string) {
  return tx
    .selectFrom('idp_sessions')
    .select(['id', 'email'])
    .where('id', 'in', tx.selectFrom('idp_refresh_tokens').select('session_id').where('token', '=', token))
    .forUpdate()
    .executeTakeFirst();
}

export function findToken(db: Handle, token: string, reuseIntervalS: number) {
  return db
    .selectFrom('idp_refresh_tokens')
    .select([
      sql<boolean>`revoked_at is not null`.as('isRevoked'),
      sql<boolean>`coalesce(revoked_at > now() - make_interval(secs => ${reuseIntervalS}), false)`.as('isRecent'),
    ])
    .where('token', '=', token)
    .executeTakeFirst();
}

/** Returns the active token. */
export function findActiveToken(db: Handle, sessionId: string) {
  return db
    .selectFrom('idp_refresh_tokens')
    .select(['token', 'parent'])
    .where('session_id', '=', sessionId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
}

export async function rotateToken(
  tx: Tx<IdpTables>,
  tokens: { readonly sessionId: string; readonly from: string; readonly to: string },
): Promise<void> {
  await tx
    .updateTable('idp_refresh_tokens')
    .set({ revoked_at: sql<Date>`now()` })
    .where('token', '=', tokens.from)
    .execute();
  await addToken(tx, { sessionId: tokens.sessionId, token: tokens.to, parent: tokens.from });
}

async function addToken(
  db: Handle,
  { sessionId, token, parent }: { readonly sessionId: string; readonly token: string; readonly parent: string | null },
): Promise<void> {
  await db.insertInto('idp_refresh_tokens').values({ session_id: sessionId, token, parent }).execute();
}

/** Also deletes all their tokens. */
export async function endSessions(
  db: Handle,
  which: { readonly scope: 'global' | 'local' | 'others'; readonly userId: string; readonly sessionId: string },
): Promise<void> {
  await db
    .deleteFrom('idp_sessions')
    .where('user_id', '=', which.userId)
    .$if(which.scope === 'local', (query) => query.where('id', '=', which.sessionId))
    .$if(which.scope === 'others', (query) => query.where('id', '<>', which.sessionId))
    .execute();
}

/** Deletes everything that names the user: sessions with their tokens, and sign-ins that have not finished. */
export async function forgetUser(db: Handle, userId: string): Promise<void> {
  const emails = db.selectFrom('idp_sessions').select('email').where('user_id', '=', userId);
  await db.deleteFrom('idp_flows').where('email', 'in', emails).execute();
  await db.deleteFrom('idp_sessions').where('user_id', '=', userId).execute();
}
