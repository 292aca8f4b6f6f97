/**
 * Sign-ins in progress, bound to the browser. Verifier, target and invite of up to three are sealed in `ka_pkce`, newest first, so a
 * code that another person started or stole is useless in this browser.
 */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '#platform/clock.ts';
import { readCookies, signInMaxAgeS } from './cookies.ts';
import type { Sealer } from './sealing.ts';

const signIn = z.object({
  /** The PKCE code verifier (RFC 7636). */
  verifier: z.string().min(43).max(128),
  /** The target as validated when the sign-in started. It is validated again at the end. */
  next: z.string().optional(),
  invite: z.string().optional(),
  /** Milliseconds since 1970. */
  beganAt: z.number(),
});
export type SignIn = z.infer<typeof signIn>;

export interface SignInDeps {
  readonly signInSealer: Sealer;
  readonly clock: Clock;
}

const maxSignIns = 3;
/** Browsers store up to 4096 bytes of name, value and attributes. */
const maxCookieLength = 3900;

export function newSignIn(clock: Clock, chosen: Pick<SignIn, 'next' | 'invite'>): SignIn {
  return { verifier: randomBytes(32).toString('base64url'), ...chosen, beganAt: clock.now() };
}

/** Returns the S256 challenge. */
export const challengeOf = ({ verifier }: SignIn): string => createHash('sha256').update(verifier).digest('base64url');

/** Returns this browser's unexpired sign-ins, newest first. */
export function readSignIns(deps: SignInDeps, cookieHeader: string | undefined): readonly SignIn[] {
  const oldest = deps.clock.now() - signInMaxAgeS * 1000;
  return readCookies(cookieHeader, 'ka_pkce')
    .map((value) => deps.signInSealer.unseal(value))
    .flatMap((text) => (text === undefined ? [] : (z.array(signIn).safeParse(JSON.parse(text)).data ?? [])))
    .filter(({ beganAt }) => beganAt > oldest)
    .sort((one, other) => other.beganAt - one.beganAt)
    .slice(0, maxSignIns);
}

/** Drops the oldest sign-ins if the cookie would be too long for a browser. */
export function sealSignIns(deps: SignInDeps, signIns: readonly SignIn[]): string {
  const newest = signIns.slice(0, maxSignIns);
  const sealed = deps.signInSealer.seal(JSON.stringify(newest));
  return sealed.length <= maxCookieLength || newest.length <= 1 ? sealed : sealSignIns(deps, newest.slice(0, -1));
}
