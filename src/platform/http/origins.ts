/** Browser origins that may call: listed ones, and all subdomains of a domain (`https://*.example.com`). */

export type OriginMatcher = (origin: string | undefined) => boolean;

/** `scheme://*.` and a domain of at least two labels. Anything wider would allow unrelated origins. */
const wildcard = /^(https?):\/\/\*\.((?:[a-z0-9-]+\.)+[a-z0-9-]+)(:\d{1,5})?$/;
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
  const parsed = patterns.map(parseOriginPattern);
  const exact = new Set(parsed.filter((pattern) => !pattern.includes('*')));
  const below = parsed
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => pattern.split('*') as [string, string]);
  return (origin) => {
    if (origin === undefined) return false;
    if (exact.has(origin)) return true;
    return below.some(
      ([scheme, domain]) =>
        origin.length > scheme.length + domain.length &&
        origin.startsWith(scheme) &&
        origin.endsWith(domain) &&
        subdomain.test(origin.slice(scheme.length, -domain.length)),
    );
  };
}
