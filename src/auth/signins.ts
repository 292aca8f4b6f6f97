/**
 * Sign-ins in progress, bound to the browser. Each has a sealed cookie of its own with its secret, target and inviter, so tabs that sign
 * in at once do not overwrite each other, and a code that another person started or stole is useless in this browser.
 *
 * The provider may also return the sealed state in the URL. It identifies the sign-in of a code and contains the target, and it is
 * worthless without a cookie. A sign-in that drops the cookie of an older one inherits its secret, so the older one can still finish.
 */

import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { withDeadline } from '#platform/resilience.ts';
import type { AuthContext } from './context.ts';
import { type CookieRules, readSignInCookies, type SignInCookieName, signInMaxAgeS } from './cookies.ts';
import { authProblems } from './problems.ts';
import { providerTimeoutMs } from './provider.ts';

export interface SignIn {
  /** The PKCE code verifier (RFC 7636). */
  readonly verifier: string;
  /** The target as validated when the sign-in started. It is validated again at the end. */
  readonly next: string | undefined;
  readonly invite: string | undefined;
  /** The cookies of this sign-in. Empty if only its secret was inherited. */
  readonly cookies: readonly SignInCookieName[];
}

/** The contents of a sealed state that this service issued and that has not expired. */
export type State = Pick<SignIn, 'next' | 'invite'> & { readonly challenge: string };

const maxSignIns = 10;
/** Characters of all cookies of sign-ins. Proxies accept 8 KiB for the header, together with the session. */
const maxTotalLength = 6000;
/** Provider, proxies and logs get the state in URLs. A longer one is not sent. */
const maxStateLength = 1500;
const maxInherited = 40;

const optional = z
  .string()
  .nullable()
  .transform((value) => value ?? undefined);
/** Secret, start in milliseconds since 1970, target, inviter, and inherited secrets. */
const cookieContent = z.tuple([z.string().min(22), z.number(), optional, optional], z.string());
/** Challenge, start, target and inviter. */
const stateContent = z.tuple([z.string(), z.number(), optional, optional]);

interface Kept {
  readonly names: readonly SignInCookieName[];
  readonly length: number;
  readonly secret: string;
  readonly beganAt: number;
  readonly next: string | undefined;
  readonly invite: string | undefined;
  readonly inherited: readonly string[];
}

interface Begun {
  /** The S256 challenge. */
  readonly challenge: string;
  /** `undefined` if it would be too long for a URL. */
  readonly state: string | undefined;
  readonly setCookies: readonly string[];
}

/** Keeps the newest sign-ins of this browser that fit, with the new one. */
function beginSignIn(
  deps: AuthContext & { readonly cookies: CookieRules },
  cookieHeader: string | undefined,
  { next, invite }: Pick<SignIn, 'next' | 'invite'>,
): Begun {
  const { cookies } = deps;
  const beganAt = deps.clock.now();
  const secret = randomBytes(16).toString('base64url');
  const others = readKept(deps, cookieHeader);
  const seal = (inherited: readonly string[]) =>
    deps.signInSealer.seal(JSON.stringify([secret, beganAt, next ?? null, invite ?? null, ...inherited]));
  const dropped = others.slice(countThatFits(others, seal([]).length));
  const inherited = dropped.flatMap((other) => [other.secret, ...other.inherited]).slice(0, maxInherited);
  const sealed = seal(inherited);
  const challenge = challengeOf(verifierOf(secret));
  const state = deps.stateSealer.seal(JSON.stringify([challenge, beganAt, next ?? null, invite ?? null]));
  const obsolete = [...dropped.flatMap(({ names }) => names), ...others.flatMap(({ names }) => duplicatesIn(names))];
  return {
    challenge,
    state: state.length > maxStateLength ? undefined : state,
    setCookies: [
      // The only sign-in of a browser is also in the cookie with the specified name.
      ...(others.length === 0 ? [cookies.keep('ka_pkce', sealed)] : []),
      cookies.keep(`ka_pkce_${randomBytes(4).toString('hex')}`, sealed),
      ...[...new Set(obsolete)].map((name) => cookies.clear(name)),
    ],
  };
}

interface FoundSignIns {
  /** The sign-ins to which the code may belong, the most probable first. Empty if the sign-in of a state is unknown here. */
  readonly signIns: readonly SignIn[];
  readonly state: State | undefined;
}

/** `state`: the raw value, which may be of any type. Without a valid one, the code may belong to any sign-in of this browser. */
export function findSignIns(deps: AuthContext, cookieHeader: string | undefined, state: unknown): FoundSignIns {
  const kept = readKept(deps, cookieHeader);
  const opened = openState(deps, state);
  if (opened === undefined)
    return {
      signIns: kept.map((one) => ({ ...one, verifier: verifierOf(one.secret), cookies: one.names })),
      state: undefined,
    };
  const candidates = kept.flatMap(({ secret, inherited, names }) => [
    { verifier: verifierOf(secret), cookies: names },
    ...inherited.map((one) => ({ verifier: verifierOf(one), cookies: [] })),
  ]);
  const found = candidates.find(({ verifier }) => challengeOf(verifier) === opened.challenge);
  return { signIns: found === undefined ? [] : [{ ...opened, ...found }], state: opened };
}

/** A sign-in to which no code belongs. */
export const unknownVerifier = (): string => verifierOf(randomBytes(16).toString('base64url'));

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');
/** Secrets are shorter than verifiers may be (RFC 7636, 43 characters), so that ten cookies stay small. */
const verifierOf = (secret: string) => sha256(`verifier ${secret}`);
const challengeOf = (verifier: string) => sha256(verifier);

function openState(deps: AuthContext, sealed: unknown): State | undefined {
  const text = typeof sealed === 'string' ? deps.stateSealer.unseal(sealed) : undefined;
  if (text === undefined) return undefined;
  const [challenge, beganAt, next, invite] = stateContent.parse(JSON.parse(text));
  return isUnexpired(deps, beganAt) ? { challenge, next, invite } : undefined;
}

/** Returns this browser's unexpired sign-ins, newest first. */
function readKept(deps: AuthContext, cookieHeader: string | undefined): readonly Kept[] {
  const bySecret = new Map<string, Kept>();
  for (const { name, value } of readSignInCookies(cookieHeader)) {
    const text = deps.signInSealer.unseal(value);
    const content = text === undefined ? undefined : cookieContent.safeParse(JSON.parse(text)).data;
    if (content === undefined) continue;
    const [secret, beganAt, next, invite, ...inherited] = content;
    if (!isUnexpired(deps, beganAt)) continue;
    const names = [...new Set([...(bySecret.get(secret)?.names ?? []), name])];
    bySecret.set(secret, { names, length: value.length, secret, beganAt, next, invite, inherited });
  }
  return [...bySecret.values()].sort((one, other) => other.beganAt - one.beganAt);
}

const isUnexpired = ({ clock }: AuthContext, beganAt: number) => beganAt > clock.now() - signInMaxAgeS * 1000;

/** How many of the other sign-ins stay beside a new one. */
function countThatFits(others: readonly Kept[], newLength: number): number {
  let total = newLength;
  const tooMany = others.slice(0, maxSignIns - 1).findIndex(({ length }) => {
    total += length;
    return total > maxTotalLength;
  });
  return tooMany < 0 ? maxSignIns - 1 : tooMany;
}

/** Returns the cookie that a sign-in no longer needs because it has one of its own. */
const duplicatesIn = (names: readonly SignInCookieName[]) =>
  names.length > 1 ? names.filter((name) => name === 'ka_pkce') : [];

// `GET /login`: stores the target and sends the browser to sign in (docs/specification/auth.md#login).

export interface Redirect {
  readonly location: string;
  readonly setCookies: readonly string[];
}

/** `next` and `invite` are raw values of any type. Throws `oauth_init_failed` (502) and then sets no cookie. */
export async function redirectToProvider(
  deps: AuthContext,
  query: { readonly next?: unknown; readonly invite?: unknown },
  cookieHeader: string | undefined,
  clientAddress: string | undefined,
): Promise<Redirect> {
  const { cookies, targets } = deps;
  const next = targets.validate(query.next);
  // Both are this machine, but to browsers they are different sites.
  const hosts = [deps.publicUrl, next ?? ''].map((url) => URL.parse(url)?.hostname);
  if (hosts.includes('localhost') && hosts.includes('127.0.0.1'))
    deps.log.warn(`a page at ${hosts[1]} stays signed out: open it at ${hosts[0]}, the host of PUBLIC_BASE_URL`);
  const invite = readInvite(query.invite);
  const { challenge, state, setCookies } = beginSignIn(deps, cookieHeader, { next, invite });
  const location = await withDeadline(providerTimeoutMs, (signal) =>
    deps.provider.authorize({ challenge, state }, { signal, clientAddress }),
  ).catch(() => undefined);
  if (location === undefined) throw authProblems.oauth_init_failed();
  return {
    location,
    setCookies: [
      cookies.keep('ka_next', next ?? targets.fallback),
      ...(invite === undefined ? [] : [cookies.keep('ka_invite', invite)]),
      ...setCookies,
    ],
  };
}

/** Returns a user id, or `undefined` for a value that cannot be one. */
function readInvite(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(value) ? value : undefined;
}
