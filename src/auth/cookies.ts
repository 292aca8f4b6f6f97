/** The cookies of the authentication service, with all attributes (docs/specification/auth.md#cookies). */
import { isIP } from 'node:net';

/** One for each sign-in in progress. The only one of a browser is also in `ka_pkce`. */
export type SignInCookieName = 'ka_pkce' | `ka_pkce_${string}`;
export type CookieName = 'ka_session' | 'ka_next' | 'ka_invite' | SignInCookieName;

/** 400 days, the longest time that browsers accept. */
export const sessionMaxAgeS = 34_560_000;
/** How long a sign-in may take. */
export const signInMaxAgeS = 600;

const maxValueLength = 4096;

/**
 * Returns every value of a name in the order sent, because a sibling domain can add its own. Parsers return only one of several, so
 * this reads the raw header. The server's header limit bounds their number. A limit here would let added values hide the real one.
 */
export function readCookies(header: string | undefined, wanted: CookieName): readonly string[] {
  return [...new Set(pairsOf(header).flatMap(({ name, value }) => (name === wanted ? [value] : [])))];
}

/** Returns the cookies of all sign-ins in the order sent. */
export function readSignInCookies(
  header: string | undefined,
): readonly { readonly name: SignInCookieName; readonly value: string }[] {
  return pairsOf(header).flatMap(({ name, value }) => (isOfSignIn(name) ? [{ name, value }] : []));
}

const isOfSignIn = (name: string): name is SignInCookieName => /^ka_pkce(?:_[0-9a-f]{8})?$/.test(name);

function pairsOf(header = ''): readonly { readonly name: string; readonly value: string }[] {
  return header.split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    if (at < 0) return [];
    const value = pair.slice(at + 1).trim();
    if (value === '' || value.length > maxValueLength) return [];
    return [{ name: pair.slice(0, at).trim(), value: value.replace(/^"(.*)"$/, '$1') }];
  });
}

export interface CookieRules {
  /** Returns the `Set-Cookie` line of a sealed refresh credential, shared across COOKIE_DOMAIN. */
  keepSession(sealed: string): string;
  clearSession(): string;
  /** Returns `clearSession` first, then lines that expire a copy on every domain and path that reaches the service. */
  clearEverySession(): readonly string[];
  /** Sets a cookie for the duration of a sign-in, on this host only. */
  keep(name: Exclude<CookieName, 'ka_session'>, value: string): string;
  clear(name: Exclude<CookieName, 'ka_session'>): string;
}

interface CookieScope {
  /** COOKIE_DOMAIN. */
  readonly domain?: string | undefined;
  readonly publicUrl: string;
}

export function cookieRules({ domain, publicUrl }: CookieScope) {
  const { protocol, hostname, pathname } = new URL(publicUrl);
  const common = ['HttpOnly', ...(protocol === 'https:' ? ['Secure'] : []), 'SameSite=Lax'];
  const on = (one: string | undefined) => (one === undefined ? [] : [`Domain=${one}`]);
  const shared = on(domain);
  const write = (name: CookieName, value: string, maxAgeS: number, scope: readonly string[], path = '/') => {
    const expired = maxAgeS === 0 ? ['Expires=Thu, 01 Jan 1970 00:00:00 GMT'] : [];
    return [`${name}=${encode(value)}`, `Max-Age=${maxAgeS}`, ...expired, ...scope, `Path=${path}`, ...common].join(
      '; ',
    );
  };
  const base = pathname.replace(/\/$/, '');
  const paths = new Set([...pathsThatReach(`${base}/refresh`), ...pathsThatReach(`${base}/logout`)]);
  const domains = new Set([domain, undefined, ...domainsThatReach(hostname)]);
  const everywhere = [...domains].flatMap((one) => [...paths].map((path) => write('ka_session', '', 0, on(one), path)));
  return {
    keepSession: (sealed) => write('ka_session', sealed, sessionMaxAgeS, shared),
    clearSession: () => write('ka_session', '', 0, shared),
    clearEverySession: () => everywhere,
    keep: (name, value) => write(name, value, signInMaxAgeS, []),
    clear: (name) => write(name, '', 0, []),
  } satisfies CookieRules as CookieRules;
}

/** Returns every `Path` for which a browser sends a cookie to `path` (RFC 6265 §5.1.4). */
function pathsThatReach(path: string): readonly string[] {
  const folders = [...path.matchAll(/\//g)].flatMap(({ index }) => [path.slice(0, index), path.slice(0, index + 1)]);
  return [...folders.filter((folder) => folder !== ''), path];
}

/** Returns every `Domain` for which a browser sends a cookie to `host`, except top-level domains. Returns none for an IP address. */
function domainsThatReach(host: string): readonly string[] {
  if (isIP(host) !== 0 || host.startsWith('[')) return [];
  const labels = host.split('.');
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
}

/** Escapes the characters that a value must not contain (RFC 6265 §4.1.1), and the escape character, as readers decode it. */
function encode(value: string): string {
  return value.replace(/[^\x21\x23-\x24\x26-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]/gu, encodeURIComponent);
}
