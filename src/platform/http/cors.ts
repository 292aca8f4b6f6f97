/** Which origins may call from a browser (docs/specification/http.md#cors). A preflight needs no credential. */
import cors from '@fastify/cors';
import type { Log } from '../log.ts';
import type { CorsRule, HttpServer, OriginMatcher } from './httpserver.ts';

export const traceHeaders = ['traceparent', 'tracestate', 'baggage'] as const;

/** CORS for media and memory: AGENT_ALLOWED_ORIGINS. `http://localhost:3000` is always included (docs/specification/http.md#cors). */
export function allowApplications(agentOrigins: readonly string[]): CorsRule {
  return {
    origins: matchOrigins(['http://localhost:3000', ...agentOrigins]),
    setting: 'AGENT_ALLOWED_ORIGINS',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', ...traceHeaders],
    exposedHeaders: ['X-Request-Id', 'Retry-After'],
  };
}

/**
 * CORS for the agent: as above. `Last-Event-ID` resumes a stream, `Idempotency-Key` makes a start repeatable,
 * MCP clients send `MCP-Protocol-Version`, and `X-Next-Before` names the next page of messages
 * (docs/specification/agent.md#agent-cors).
 */
export function allowChats(agentOrigins: readonly string[]): CorsRule {
  const rule = allowApplications(agentOrigins);
  return {
    ...rule,
    allowedHeaders: [...rule.allowedHeaders, 'Last-Event-ID', 'Idempotency-Key', 'MCP-Protocol-Version'],
    exposedHeaders: [...rule.exposedHeaders, 'X-Next-Before'],
  };
}

/** CORS for content: every origin may read. */
export const allowEveryone: CorsRule = {
  origins: '*',
  methods: ['GET', 'HEAD'],
  allowedHeaders: ['Accept-Language', 'Content-Type', ...traceHeaders],
  exposedHeaders: ['X-Request-Id', 'Retry-After'],
};

const preflightMaxAgeS = 600;

export function allowOrigins(app: HttpServer, rule: CorsRule): void {
  const { origins } = rule;
  if (origins === '*') {
    allowAnyOrigin(app, rule);
    return;
  }
  warnAboutRefused(app, origins, rule.setting);
  app.register(cors, {
    origin: (origin, callback) => callback(null, origins(origin)),
    methods: [...rule.methods],
    allowedHeaders: [...rule.allowedHeaders],
    exposedHeaders: [...rule.exposedHeaders],
    credentials: rule.credentials ?? false,
    maxAge: preflightMaxAgeS,
    // An OPTIONS request that is not a preflight gets the same response as one. This is harmless and avoids the plugin's own error message.
    strictPreflight: false,
  });
}

/** Browsers hide the reason from the page, so its developer looks into the log. */
function warnAboutRefused(app: HttpServer, isAllowed: OriginMatcher, setting: string | undefined): void {
  if (setting === undefined) return;
  const warn = originWarner(app.log, setting);
  app.addHook('onRequest', ({ headers: { origin, host } }, _reply, done) => {
    // A page of the service itself sends its origin too.
    if (origin !== undefined && !isAllowed(origin) && origin.replace(/^https?:\/\//, '') !== host) warn(origin);
    done();
  });
}

/** For routes that answer OPTIONS themselves. */
export function preflightHeaders({ methods, allowedHeaders }: CorsRule): Readonly<Record<string, string>> {
  return {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': allowedHeaders.join(', '),
    'access-control-max-age': String(preflightMaxAgeS),
  };
}

/** Sets the same headers for all callers. The plugin would compute them for each request, at a third of the cost of a minimal response. */
function allowAnyOrigin(app: HttpServer, rule: CorsRule): void {
  const responseHeaders = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': rule.exposedHeaders.join(', '),
  };
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(responseHeaders);
    done();
  });
  app.options('*', { schema: { hide: true } }, (_request, reply) =>
    reply.code(204).headers(preflightHeaders(rule)).send(),
  );
}

// Browser origins that may call: listed ones, and all subdomains of a domain (`https://*.example.com`).

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
