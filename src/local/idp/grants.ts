/**
 * How sessions start and continue, by GoTrue's rules. A code is valid once, and only with its verifier. A refresh rotates the token.
 * The token before the active one, and any token within the reuse interval, return the active one. Any other used token ends the
 * session, because it must have been stolen.
 */

import { createHash, randomBytes } from 'node:crypto';
import { type Account, accountOf, accountPlan } from '#accounts/sampleaccounts.ts';
import { ensureProfile } from '#accounts/store.ts';
import { transaction } from '#platform/db/db.ts';
import type { Problem } from '#platform/problem.ts';
import type { IdpContext } from './context.ts';
import { idpProblems } from './problems.ts';
import {
  createSession,
  endSessions,
  findActiveToken,
  findByCode,
  findToken,
  lockSessionOf,
  rotateToken,
  spendFlow,
} from './store.ts';
import { type AccessToken, describeUser, issueAccessToken } from './tokens.ts';

export interface Session extends AccessToken {
  readonly refresh_token: string;
  readonly user: ReturnType<typeof describeUser>;
}

/** The grant `grant_type=pkce`. */
export async function exchangeCode(deps: IdpContext, code: string, verifier: string): Promise<Session> {
  const flow = await findByCode(deps.db, code);
  if (flow === undefined || flow.email === null) throw idpProblems.flow_state_not_found();
  if (!flow.isYoung) throw idpProblems.flow_state_expired();
  const proof = flow.challengeMethod === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url');
  if (proof !== flow.challenge) throw idpProblems.bad_code_verifier();
  if (!(await spendFlow(deps.db, flow.id))) throw idpProblems.flow_state_not_found();
  return openSession(deps, accountOf(flow.email));
}

/** Also opens a session without a browser (`npm run token`). */
export async function openSession(deps: IdpContext, account: Account): Promise<Session> {
  await ensureProfile(deps.accounts, { ...account, ...accountPlan }, deps.welcome);
  const token = newRefreshToken();
  const sessionId = await transaction(deps.db, (tx) =>
    createSession(tx, { userId: account.id, email: account.email, token }),
  );
  return describeSession(deps, account, sessionId, token);
}

/** The grant `grant_type=refresh_token`. */
export async function refreshSession(deps: IdpContext, token: string): Promise<Session> {
  const outcome = await transaction(deps.db, async (tx): Promise<Continued | Problem> => {
    const session = await lockSessionOf(tx, token);
    if (session === undefined) return idpProblems.refresh_token_not_found();
    const active = await findActiveToken(tx, session.id);
    const given = await findToken(tx, token, deps.reuseIntervalS);
    if (active === undefined || given === undefined) return idpProblems.refresh_token_not_found();
    const account = accountOf(session.email);
    if (!given.isRevoked) {
      const to = newRefreshToken();
      await rotateToken(tx, { sessionId: session.id, from: token, to });
      return { account, sessionId: session.id, token: to };
    }
    if (active.parent === token || given.isRecent) return { account, sessionId: session.id, token: active.token };
    await endSessions(tx, { scope: 'local', userId: account.id, sessionId: session.id });
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
