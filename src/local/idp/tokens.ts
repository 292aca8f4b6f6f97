/** Access tokens as GoTrue issues them: the same claims, the same answer. */
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '#platform/clock.ts';
import type { Account } from './accounts.ts';
import type { SigningKeys } from './keys.ts';

export interface TokenDeps {
  readonly keys: SigningKeys;
  readonly clock: Clock;
  /** The provider's own address, without a trailing slash. */
  readonly publicUrl: string;
}

export interface AccessToken {
  readonly access_token: string;
  readonly token_type: 'bearer';
  /** Seconds. */
  readonly expires_in: number;
  /** Unix seconds. */
  readonly expires_at: number;
}

const lifetimeS = 3600;

export async function issueAccessToken(deps: TokenDeps, account: Account): Promise<AccessToken> {
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
    session_id: randomUUID(),
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { email: account.email, email_verified: true },
  })
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: deps.keys.kid })
    .sign(deps.keys.privateKey);
  return { access_token: token, token_type: 'bearer', expires_in: lifetimeS, expires_at: expiresAtS };
}
