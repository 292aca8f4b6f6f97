import { randomBytes } from 'node:crypto';
import { address, type Environment, integer, list, secret, setting, splitList, text } from '#platform/config.ts';
import { parseNetwork } from '#platform/http/clientaddress.ts';

/** Settings of the authentication service (docs/specification/auth.md). */
export const authSettings = {
  publicUrl: address('PUBLIC_BASE_URL', { requiredInProduction: true }),
  allowedOrigins: {
    ...list('ALLOWED_REDIRECT_ORIGINS', { default: [], requiredInProduction: true }),
    parse: (raw = '') => splitNonEmpty(raw).map(parseOrigin),
  },
  defaultOrigin: setting('DEFAULT_REDIRECT_ORIGIN', parseOrigin),
  cookieDomain: setting('COOKIE_DOMAIN', (raw) => {
    if (!/^\.?(?:[a-z0-9-]+\.)*[a-z0-9-]+$/i.test(raw)) throw new Error('must be a domain');
    return raw;
  }),
  cookieSecrets: {
    ...secret('COOKIE_SECRETS', { make: () => randomBytes(32).toString('hex') }),
    parse: (raw = '') => splitNonEmpty(raw),
  },
  trustedProxies: {
    ...list('TRUSTED_PROXIES'),
    parse: (raw = '') => splitNonEmpty(raw).map(parseNetwork),
  },
  accountDeletionDays: integer('ACCOUNT_DELETION_DAYS', { default: 14, min: 0, max: 90 }),
  socialProvider: text('SOCIAL_PROVIDER', { default: 'google' }),
} as const;

/** Throws if there are only commas. */
function splitNonEmpty(raw: string): readonly string[] {
  const parts = splitList(raw);
  if (raw !== '' && parts.length === 0) throw new Error('must not have empty values between its commas');
  return parts;
}

/** Returns the browser's spelling. Wildcards are invalid, because a redirect target must match exactly. */
function parseOrigin(raw: string): string {
  const text = raw.trim().replace(/\/$/, '');
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) throw new Error(`must be origins, not ${raw}`);
  const url = new URL(text);
  if (url.href !== `${url.origin}/` || raw.includes('*'))
    throw new Error(`must be origins without path, user or wildcard, not ${raw}`);
  return url.origin;
}

// Whether the browsers of all front ends store the session cookie and send it.

/** Returns one sentence for each URL whose host COOKIE_DOMAIN does not cover. Values that are not URLs have faults of their own. */
export function findUncovered({
  COOKIE_DOMAIN: domain = '',
  PUBLIC_BASE_URL: publicUrl,
  ALLOWED_REDIRECT_ORIGINS: origins = '',
}: Environment): readonly string[] {
  if (domain === '') return [];
  // Without the setting, the service is at its local URL.
  const urls = [
    ['PUBLIC_BASE_URL', publicUrl || 'http://localhost'] as const,
    ...origins.split(',').map((origin) => ['ALLOWED_REDIRECT_ORIGINS', origin.trim()] as const),
  ];
  return urls.flatMap(([variable, url]) => {
    if (!URL.canParse(url) || covers(domain, new URL(url).hostname)) return [];
    return `COOKIE_DOMAIN is ${domain}, which does not cover ${new URL(url).host} in ${variable}: browsers do not send the session cookie there`;
  });
}

/** As browsers match a cookie's domain (RFC 6265 §5.1.3). */
function covers(domain: string, host: string): boolean {
  const parent = domain.replace(/^\./, '').toLowerCase();
  return host === parent || host.endsWith(`.${parent}`);
}
