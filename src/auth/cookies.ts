/** The cookies of the authentication service, with every attribute (document 001; CONTRACT §6). */

export type CookieName = 'ka_session' | 'ka_next' | 'ka_invite' | 'ka_pkce';

/** 400 days: more no browser keeps. */
const sessionMaxAgeS = 34_560_000;
/** How long a sign-in may take. */
export const signInMaxAgeS = 600;

/** A name may stand there more than once (a sibling domain can add its own): what it may cost to try them all. */
const maxValues = 5;
const maxValueLength = 4096;

/**
 * Every value of a name, in the order sent. The raw header is read, since parsers keep one of several; what is no cookie
 * or longer than a browser keeps is passed over.
 */
export function readCookies(header: string | undefined, name: CookieName): readonly string[] {
  const values = (header ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    if (at < 0 || pair.slice(0, at).trim() !== name) return [];
    const value = pair.slice(at + 1).trim();
    return value === '' || value.length > maxValueLength ? [] : [value.replace(/^"(.*)"$/, '$1')];
  });
  return [...new Set(values)].slice(0, maxValues);
}

export interface CookieRules {
  /** `Set-Cookie` of a sealed refresh credential; shared across COOKIE_DOMAIN. */
  keepSession(sealed: string): string;
  clearSession(): string;
  /** For the time of a sign-in, on this host alone. */
  keep(name: Exclude<CookieName, 'ka_session'>, value: string): string;
  clear(name: Exclude<CookieName, 'ka_session'>): string;
}

/** `secure`: whether PUBLIC_BASE_URL is https. */
export function cookieRules({ domain, secure }: { readonly domain?: string | undefined; readonly secure: boolean }) {
  const common = ['HttpOnly', ...(secure ? ['Secure'] : []), 'SameSite=Lax'];
  const shared = domain === undefined ? [] : [`Domain=${domain}`];
  const write = (name: CookieName, value: string, maxAgeS: number, scope: readonly string[]) => {
    const expired = maxAgeS === 0 ? ['Expires=Thu, 01 Jan 1970 00:00:00 GMT'] : [];
    return [`${name}=${encode(value)}`, `Max-Age=${maxAgeS}`, ...expired, ...scope, 'Path=/', ...common].join('; ');
  };
  return {
    keepSession: (sealed) => write('ka_session', sealed, sessionMaxAgeS, shared),
    clearSession: () => write('ka_session', '', 0, shared),
    keep: (name, value) => write(name, value, signInMaxAgeS, []),
    clear: (name) => write(name, '', 0, []),
  } satisfies CookieRules as CookieRules;
}

/** What must not stand in a value (RFC 6265 §4.1.1), and the sign that stands for it; as readers decode it. */
function encode(value: string): string {
  return value.replace(/[^\x21\x23-\x24\x26-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]/gu, encodeURIComponent);
}
