import { randomBytes } from 'node:crypto';
import { address, list, secret, setting, text } from '#platform/config.ts';
import { parseNetwork } from '#platform/http/clientaddress.ts';

/** docs/specification/auth.md. */
export const authSettings = {
  publicUrl: address('PUBLIC_BASE_URL', {
    requiredInProduction: true,
    meaning:
      'Where browsers reach the authentication service; `{PUBLIC_BASE_URL}/callback` has to be registered with the identity provider. Not set: its own address.',
  }),
  allowedOrigins: {
    ...list('ALLOWED_REDIRECT_ORIGINS', {
      default: [],
      requiredInProduction: true,
      defaultText: 'the console and http://localhost:3000',
      meaning: 'The front end’s origins: where a sign-in may end, and who may call `/refresh` and `/logout`.',
    }),
    parse: (raw = '') => splitList(raw).map(parseOrigin),
  },
  defaultOrigin: setting(
    'DEFAULT_REDIRECT_ORIGIN',
    {
      defaultText: 'the first of ALLOWED_REDIRECT_ORIGINS',
      meaning: 'Where a sign-in ends that names no allowed target.',
    },
    parseOrigin,
  ),
  cookieDomain: setting(
    'COOKIE_DOMAIN',
    { defaultText: 'host-only', meaning: 'The parent domain that the session cookie is shared across.' },
    (raw) => {
      if (!/^\.?(?:[a-z0-9-]+\.)*[a-z0-9-]+$/i.test(raw)) throw new Error('must be a domain');
      return raw;
    },
  ),
  cookieSecrets: {
    ...secret('COOKIE_SECRETS', {
      make: () => randomBytes(32).toString('hex'),
      meaning: 'What cookies are sealed with, comma-separated: the first seals, all unseal.',
    }),
    parse: (raw = '') => splitList(raw),
  },
  trustedProxies: {
    ...list('TRUSTED_PROXIES', {
      default: [],
      meaning:
        'The proxies whose `X-Forwarded-For` is believed, as CIDRs (`10.0.0.0/8,fd00::/8`). When set, each client’s address is passed to the identity provider, which limits sign-ins by address.',
    }),
    parse: (raw = '') => splitList(raw).map(parseNetwork),
  },
  socialProvider: text('SOCIAL_PROVIDER', {
    default: 'google',
    meaning: 'The sign-in provider that the identity provider is asked for.',
  }),
} as const;

function splitList(raw: string): readonly string[] {
  const parts = raw
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (raw !== '' && parts.length === 0) throw new Error('must have a value between its commas');
  return parts;
}

/** As browsers spell it. No wildcards: a redirect target has to be exactly one of them. */
function parseOrigin(raw: string): string {
  const text = raw.trim().replace(/\/$/, '');
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) throw new Error(`must be origins, unlike ${raw}`);
  const url = new URL(text);
  if (url.href !== `${url.origin}/` || raw.includes('*'))
    throw new Error(`must be origins without path, user or wildcard, unlike ${raw}`);
  return url.origin;
}
