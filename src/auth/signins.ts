/**
 * Sign-ins under way, bound to the browser: verifier, target and invite of up to three lie sealed in `ka_pkce`, newest
 * first, so that a code which somebody else began, or which was stolen, opens nothing here.
 */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '#platform/clock.ts';
import { readCookies, signInMaxAgeS } from './cookies.ts';
import type { Sealer } from './sealing.ts';

const signIn = z.object({
  /** PKCE's code verifier (RFC 7636). */
  verifier: z.string().min(43).max(128),
  /** As it was judged when the sign-in began; it is judged again when it ends. */
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
/** Browsers keep 4096 bytes of name, value and attributes. */
const maxCookieLength = 3900;

export function newSignIn(clock: Clock, chosen: Pick<SignIn, 'next' | 'invite'>): SignIn {
  return { verifier: randomBytes(32).toString('base64url'), ...chosen, beganAt: clock.now() };
}

/** S256. */
export const challengeOf = ({ verifier }: SignIn): string => createHash('sha256').update(verifier).digest('base64url');

/** Those of this browser that are not too old, newest first. */
export function readSignIns(deps: SignInDeps, cookieHeader: string | undefined): readonly SignIn[] {
  const oldest = deps.clock.now() - signInMaxAgeS * 1000;
  return readCookies(cookieHeader, 'ka_pkce')
    .map((value) => deps.signInSealer.unseal(value))
    .flatMap((text) => (text === undefined ? [] : (z.array(signIn).safeParse(JSON.parse(text)).data ?? [])))
    .filter(({ beganAt }) => beganAt > oldest)
    .sort((one, other) => other.beganAt - one.beganAt)
    .slice(0, maxSignIns);
}

/** The oldest give way where a browser would not keep them all. */
export function sealSignIns(deps: SignInDeps, signIns: readonly SignIn[]): string {
  const kept = signIns.slice(0, maxSignIns);
  const sealed = deps.signInSealer.seal(JSON.stringify(kept));
  return sealed.length <= maxCookieLength || kept.length <= 1 ? sealed : sealSignIns(deps, kept.slice(0, -1));
}
