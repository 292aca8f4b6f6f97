import type { FastifyRequest } from 'fastify';
import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import {
  type EmailRequest,
  emailAnswer,
  emailRequest,
  idempotencyHeaders,
  type NotifyRequest,
  notifyAnswer,
  notifyRequest,
} from './api.ts';
import type { Mail } from './mail.ts';
import { type Notification, type NotifyingDeps, notify } from './notifying.ts';
import { notifyProblems } from './problems.ts';
import { sendOnce } from './sending.ts';

export interface RouteDeps extends NotifyingDeps {
  /** Whether INTERNAL_KEY is set: without it nothing is answered but 500 (document 002). */
  readonly isKeyConfigured: boolean;
}

export function addRoutes(app: HttpServer, access: Access, deps: RouteDeps): void {
  const tags = ['notify'];
  const guard = {
    ...access.internalOnly,
    onRequest: [refuseUnconfigured(deps.isKeyConfigured), access.internalOnly.onRequest],
  };

  app.post(
    '/notify',
    {
      ...guard,
      schema: {
        tags,
        summary: 'Notify a user, in their language, if they may be notified',
        headers: idempotencyHeaders,
        body: notifyRequest,
        response: { 200: notifyAnswer },
      },
    },
    async (request) => notify(deps, named(request.body), repeatable(request, request.body)),
  );

  app.post(
    '/emails',
    {
      ...guard,
      schema: {
        tags,
        summary: 'Send a mail as it is',
        headers: idempotencyHeaders,
        body: emailRequest,
        response: { 200: emailAnswer },
      },
    },
    async (request) => {
      const prepare = async () => ({ mail: mailOf(request.body) });
      const outcome = await sendOnce(deps, { endpoint: 'emails', ...repeatable(request, request.body), prepare });
      if ('skipReason' in outcome) throw new Error('a raw mail was skipped');
      return { id: outcome.providerId };
    },
  );
}

function refuseUnconfigured(isConfigured: boolean) {
  return async () => {
    if (!isConfigured) throw notifyProblems.internal_key_not_configured();
  };
}

/** The sentence is document 002's. */
function named({ type, userId, contact }: NotifyRequest): Notification {
  if (!type || !userId) {
    const missing = [...(type ? [] : ['body.type']), ...(userId ? [] : ['body.userId'])];
    const issues = missing.map((path) => ({ path, message: 'is required' }));
    throw problems.invalid_request({ message: 'type and userId are required', issues });
  }
  return { type, userId: userId.toLowerCase(), contact };
}

function repeatable<Body>(request: FastifyRequest, body: Body) {
  const key = request.headers['idempotency-key'];
  return { key: typeof key === 'string' ? key : undefined, body };
}

function mailOf(request: EmailRequest): Mail {
  const { from, to, cc = [], bcc = [], reply_to: replyTo = [], subject, html, text } = request;
  return { from, to, cc, bcc, replyTo, subject, html, text, headers: {} };
}
