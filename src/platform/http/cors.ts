/** Which pages of other origins may call from a browser (docs/specification/http.md#cors). A preflight needs no credential. */
import cors from '@fastify/cors';
import type { CorsRule, HttpServer } from './httpserver.ts';
import { matchOrigins } from './origins.ts';

export const traceHeaders = ['traceparent', 'tracestate', 'baggage'] as const;

/** Media and memory: AGENT_ALLOWED_ORIGINS; `http://localhost:3000` always belongs to it (docs/specification/http.md#cors). */
export function allowApplications(agentOrigins: readonly string[]): CorsRule {
  return {
    origins: matchOrigins(['http://localhost:3000', ...agentOrigins]),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', ...traceHeaders],
    exposedHeaders: ['X-Request-Id', 'Retry-After'],
  };
}

/** The agent: as above, and streams are resumed with Last-Event-ID (docs/specification/agent.md#agent-cors). */
export function allowChats(agentOrigins: readonly string[]): CorsRule {
  const rule = allowApplications(agentOrigins);
  return { ...rule, allowedHeaders: [...rule.allowedHeaders, 'Last-Event-ID'] };
}

/** Content: anybody may read. */
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
  app.register(cors, {
    origin: (origin, answer) => answer(null, origins(origin)),
    methods: [...rule.methods],
    allowedHeaders: [...rule.allowedHeaders],
    exposedHeaders: [...rule.exposedHeaders],
    credentials: rule.credentials ?? false,
    maxAge: preflightMaxAgeS,
    // An OPTIONS request that is no preflight is answered like one: harmless, and in no other words than ours.
    strictPreflight: false,
  });
}

/** The same headers for all who ask: the library would work them out anew, at a third of the cost of a bare answer. */
function allowAnyOrigin(app: HttpServer, rule: CorsRule): void {
  const ofAnswers = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': rule.exposedHeaders.join(', '),
  };
  const ofPreflights = {
    'access-control-allow-methods': rule.methods.join(', '),
    'access-control-allow-headers': rule.allowedHeaders.join(', '),
    'access-control-max-age': String(preflightMaxAgeS),
  };
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(ofAnswers);
    done();
  });
  app.options('*', { schema: { hide: true } }, (_request, reply) => reply.code(204).headers(ofPreflights).send());
}
