/** Browser origins that may call: listed ones, and all subdomains of a domain (`https://*.example.com`). */

import type { Log } from '../log.ts';

export type OriginMatcher = (origin: string | undefined) => boolean;

/** `scheme://*.` and a domain of at least two labels. Anything wider would allow unrelated origins. */
const wildcard = /^(https?):\/\/\*\.((?:[a-z0-9-]+\.)+[a-z0-9-]+)(:\d{1,5})?$/;
/** Pages on this machine, at any port. No setting can contain it. */
export const anyLocalOrigin = 'http://localhost:*';
const localOrigin = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/;

const subdomain = /^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$/;

/**
 * Returns the origin as the `Origin` header spells it: lower case, punycode, no default port, no path. Throws a plain Error with
 * the reason if the text is not an origin.
 */
export function parseOriginPattern(raw: string): string {
  const text = raw.trim().replace(/\/$/, '').toLowerCase();
  if (wildcard.test(text)) return text.replace(/^(https:.*):443$|^(http:.*):80$/, '$1$2');
  if (text.includes('*')) throw new Error(`must have its wildcard as in https://*.example.com, not ${raw}`);
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new Error(`must be origins, not ${raw}`);
  const url = new URL(text);
  if (url.href !== `${url.origin}/`) throw new Error(`must be origins without path or user, not ${raw}`);
  return url.origin;
}

/** The `*` matches one or more labels, but not the domain itself. `null` never matches. */
export function matchOrigins(patterns: readonly string[]): OriginMatcher {
  const parsed = patterns.filter((pattern) => pattern !== anyLocalOrigin).map(parseOriginPattern);
  const isLocalAllowed = parsed.length < patterns.length;
  const exact = new Set(parsed.filter((pattern) => !pattern.includes('*')));
  const below = parsed
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => pattern.split('*') as [string, string]);
  return (origin) => {
    if (origin === undefined) return false;
    if (exact.has(origin) || (isLocalAllowed && localOrigin.test(origin))) return true;
    return below.some(
      ([scheme, domain]) =>
        origin.length > scheme.length + domain.length &&
        origin.startsWith(scheme) &&
        origin.endsWith(domain) &&
        subdomain.test(origin.slice(scheme.length, -domain.length)),
    );
  };
}

/** More origins than this are those of attackers. */
const originsNamed = 100;

/** Names each refused origin once in the log, with the setting that would allow it. */
export function originWarner(log: Pick<Log, 'warn'>, setting: string): (origin: string) => void {
  const named = new Set<string>();
  return (origin) => {
    if (named.size >= originsNamed || named.has(origin)) return;
    named.add(origin);
    log.warn({ origin: origin.slice(0, 200) }, `the origin of a page is not allowed: add it to ${setting}`);
  };
}
