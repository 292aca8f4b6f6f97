/** Access tokens of users (docs/specification/http.md#credentials): ES256, `exp` and `aud` = `authenticated` required, `sub` a UUID. */

import { hash } from 'node:crypto';
import { decodeJwt, errors, jwtVerify } from 'jose';
import { createLru } from '../cache/cache.ts';
import { type Clock, systemClock } from '../clock.ts';
import { isUuid } from '../ids.ts';
import { problems } from '../problem.ts';
import type { KeySet } from './keyset.ts';

export interface VerifiedToken {
  /** In lower case. */
  readonly userId: string;
  readonly expiresAtMs: number;
  /** The claim `email`, which the identity provider has verified. */
  readonly email?: string;
}

export interface TokenVerifier {
  /** Throws `unauthorized`, or `engine_unavailable` without keys. */
  verify(token: string): Promise<VerifiedToken>;
  /** Also returns all claims, for the few callers that need others. Throws like `verify`. */
  verifyClaims(token: string): Promise<VerifiedToken & { readonly claims: Readonly<Record<string, unknown>> }>;
}

const maxTokenLength = 8192;
/** Seconds that `nbf` may be ahead of the server's clock. `exp` has no tolerance, because clients refresh before it. */
const clockToleranceS = 5;

/** How long a verified token stays valid after the provider revokes its key, in addition to the age of the key set. */
const rememberMs = 60_000;

/**
 * Remembers verified tokens for a minute. A verification costs about as much as the rest of a small request, and a client sends
 * one token for an hour. Only a hash of the token is stored.
 */
export function createTokenVerifier(keys: KeySet, clock: Clock = systemClock): TokenVerifier {
  const remembered = createLru<string, { readonly verified: VerifiedToken; readonly untilMs: number }>(10_000);

  const verify = async (token: string): Promise<VerifiedToken> => {
    if (token.length > maxTokenLength) throw problems.unauthorized();
    const name = hash('sha256', token, 'base64');
    const nowMs = clock.now();
    const known = remembered.get(name);
    if (known !== undefined && nowMs < known.untilMs) return known.verified;
    const verified = await verifySignature(token, keys, nowMs);
    remembered.set(name, { verified, untilMs: Math.min(verified.expiresAtMs, nowMs + rememberMs) });
    return verified;
  };
  return {
    verify,
    // The signature is of this text, so its claims are verified too.
    verifyClaims: async (token) => ({ ...(await verify(token)), claims: decodeJwt(token) }),
  };
}

async function verifySignature(token: string, keys: KeySet, nowMs: number): Promise<VerifiedToken> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = typeof kid === 'string' ? await keys.find(kid) : undefined;
        if (key === undefined) throw problems.unauthorized();
        return key;
      },
      {
        algorithms: ['ES256'],
        audience: 'authenticated',
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockToleranceS,
        currentDate: new Date(nowMs),
      },
    );
    const expiresAtMs = (payload.exp ?? 0) * 1000;
    if (expiresAtMs <= nowMs || typeof payload.sub !== 'string' || !isUuid(payload.sub)) throw problems.unauthorized();
    const { email } = payload;
    return { userId: payload.sub.toLowerCase(), expiresAtMs, ...(typeof email === 'string' && { email }) };
  } catch (error) {
    throw error instanceof errors.JOSEError ? problems.unauthorized({ cause: error }) : error;
  }
}
