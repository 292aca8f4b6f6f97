/**
 * How sessions start and continue, by GoTrue's rules. A code is valid once, and only with its verifier. A refresh rotates the token.
 * The token before the active one, and any token within the reuse interval, return the active one. Any other used token ends the
 * session, because it must have been stolen.
 */
import { createHash, randomBytes } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { type Account, accountOf, accountPlan } from '#accounts/sampleaccounts.ts';
import { ensureProfile } from '#accounts/store.ts';
import { transaction } from '#platform/db/db.ts';
import type { Problem } from '#platform/problem.ts';
import type { IdpContext } from './context.ts';
import { idpProblems } from './problems.ts';
import * as store from './store.ts';

export interface Session extends AccessToken {
  readonly refresh_token: string;
  readonly user: ReturnType<typeof describeUser>;
}

/** The grant `grant_type=pkce`. */
export async function exchangeCode(deps: IdpContext, code: string, verifier: string): Promise<Session> {
  const flow = await store.findByCode(deps.db, code);
  if (flow === undefined || flow.email === null) throw idpProblems.flow_state_not_found();
  if (!flow.isYoung) throw idpProblems.flow_state_expired();
  const proof = flow.challengeMethod === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
  if (proof !== flow.challenge) throw idpProblems.bad_code_verifier();
  if (!(await store.spendFlow(deps.db, flow.id))) throw idpProblems.flow_state_not_found();
  return openSession(deps, accountOf(flow.email));
}

/** Also opens a session without a browser (`npm run token`). */
export async function openSession(deps: IdpContext, account: Account): Promise<Session> {
  await ensureProfile(deps.accounts, { ...account, ...accountPlan }, deps.welcome);
  const token = newRefreshToken();
  const sessionId = await transaction(deps.db, (tx) =>
    store.createSession(tx, { userId: account.id, email: account.email, token }),
  );
  return describeSession(deps, account, sessionId, token);
}

/** The grant `grant_type=refresh_token`. */
export async function refreshSession(deps: IdpContext, token: string): Promise<Session> {
  const outcome = await transaction(deps.db, async (tx): Promise<Continued | Problem> => {
    const session = await store.lockSessionOf(tx, token);
    if (session === undefined) return idpProblems.refresh_token_not_found();
    const active = await store.findActiveToken(tx, session.id);
    const given = await store.findToken(tx, token, deps.reuseIntervalS);
    if (active === undefined || given === undefined) return idpProblems.refresh_token_not_found();
    const account = accountOf(session.email);
    if (!given.isRevoked) {
      const to = newRefreshToken();
      await store.rotateToken(tx, { sessionId: session.id, from: token, to });
      return { account, sessionId: session.id, token: to };
    }
    if (active.parent === token || given.isRecent) return { account, sessionId: session.id, token: active.token };
    await store.endSessions(tx, { scope: 'local', userId: account.id, sessionId: session.id });
    return idpProblems.refresh_token_already_used();
  });
  // Throw after the transaction, because the end of a stolen session must be committed.
  if ('status' in outcome) throw outcome;
  return describeSession(deps, outcome.account, outcome.sessionId, outcome.token);
}

interface Continued {
  readonly account: Account;
  readonly sessionId: string;
  readonly token: string;
}

async function describeSession(deps: IdpContext, account: Account, sessionId: string, token: string): Promise<Session> {
  const access = await issueAccessToken(deps, account, sessionId);
  return { ...access, refresh_token: token, user: describeUser(account, new Date(deps.clock.now())) };
}

const newRefreshToken = () => randomBytes(16).toString('base64url');

// Access tokens as GoTrue issues them: the same claims and the same response.

export interface AccessToken {
  readonly access_token: string;
  readonly token_type: 'bearer';
  /** In seconds. */
  readonly expires_in: number;
  /** In Unix seconds. */
  readonly expires_at: number;
}

const lifetimeS = 3600;
const appMetadata = { provider: 'google', providers: ['google'] };

async function issueAccessToken(deps: IdpContext, account: Account, sessionId: string): Promise<AccessToken> {
  const issuedAtS = Math.floor(deps.clock.now() / 1000);
  const expiresAtS = issuedAtS + lifetimeS;
  const token = await new SignJWT({
    iss: `${deps.publicUrl}/auth/v1`,
    sub: account.id,
    aud: 'authenticated',
    iat: issuedAtS,
    exp: expiresAtS,
    email: account.email,
    role: 'authenticated',
    session_id: sessionId,
    app_metadata: appMetadata,
    user_metadata: { email: account.email, email_verified: true },
  })
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: deps.keys.kid })
    .sign(deps.keys.privateKey);
  return { access_token: token, token_type: 'bearer', expires_in: lifetimeS, expires_at: expiresAtS };
}

const claims = z.object({ sub: z.uuid(), session_id: z.uuid() });

/** Returns the owner of the token. Throws `no_authorization` or `bad_jwt`. Does not check whether the session still exists. */
export async function readAccessToken(deps: IdpContext, authorization: string | undefined) {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw idpProblems.no_authorization();
  try {
    const { payload } = await jwtVerify(token, deps.keys.verify, { algorithms: ['ES256'], audience: 'authenticated' });
    const { sub, session_id } = claims.parse(payload);
    return { userId: sub, sessionId: session_id };
  } catch (cause) {
    throw idpProblems.bad_jwt({ cause });
  }
}

/** Returns GoTrue's user, with the available fields. */
export function describeUser({ id, email }: Account, createdAt: Date) {
  const at = createdAt.toISOString();
  return {
    id,
    aud: 'authenticated',
    role: 'authenticated',
    email,
    email_confirmed_at: at,
    phone: '',
    confirmed_at: at,
    last_sign_in_at: at,
    app_metadata: appMetadata,
    user_metadata: { email, email_verified: true },
    identities: [],
    created_at: at,
    updated_at: at,
    is_anonymous: false,
  };
}
