/** Access tokens as GoTrue issues them: the same claims and the same response. */

import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { Account } from '#accounts/sampleaccounts.ts';
import type { IdpContext } from './context.ts';
import { idpProblems } from './problems.ts';

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

export async function issueAccessToken(deps: IdpContext, account: Account, sessionId: string): Promise<AccessToken> {
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
