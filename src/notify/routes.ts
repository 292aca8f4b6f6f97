import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { invalid, type Problem, problems } from '#platform/problem.ts';
import { findUnstorable } from '#platform/storable.ts';
import {
  type EmailRequest,
  emailAnswer,
  emailRequest,
  idempotencyHeaders,
  type NotifyRequest,
  notifyAnswer,
  notifyRequest,
  suppressedAddress,
  suppressionListing,
  suppressionPage,
} from './api.ts';
import type { Mail } from './mail.ts';
import { type Notification, type NotifyingDeps, notify } from './notifying.ts';
import { notifyProblems } from './problems.ts';
import { sendOnce } from './sending.ts';
import { lift, listPage } from './suppressions.ts';

export interface RouteDeps extends NotifyingDeps {
  /** Whether INTERNAL_KEY is set: without it nothing is answered but 500 (docs/specification/notify.md#notify-endpoints). */
  readonly isKeyConfigured: boolean;
}

export function addRoutes(app: HttpServer, access: Access, deps: RouteDeps): void {
  const tags = ['notify'];
  const configured = refuseUnconfigured(deps.isKeyConfigured);
  const guard = {
    ...access.internalOnly,
    onRequest: [configured, access.internalOnly.onRequest],
    preValidation: refuseUnstorable,
  };
  // The provider's own library sends its key as a bearer token, and reads `name` and `statusCode` of an error.
  const providerGuard = {
    ...access.internalOrBearer,
    onRequest: [configured, access.internalOrBearer.onRequest],
    preValidation: refuseUnstorable,
    config: {
      ...access.internalOrBearer.config,
      errorFields: ({ code, status }: Problem) => ({ name: code, statusCode: status }),
    },
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
      ...providerGuard,
      schema: {
        tags,
        summary: 'Send a mail as it is',
        headers: idempotencyHeaders,
        body: emailRequest,
        response: { 200: emailAnswer },
      },
    },
    async (request) => {
      const { html, text } = request.body;
      // docs/specification/notify.md#emails has this status, and the sentence.
      if (!html && !text) throw notifyProblems.email_failed({ message: 'Either html or text must be provided' });
      const prepare = async () => ({ mail: mailOf(request.body) });
      const outcome = await sendOnce(deps, { endpoint: 'emails', ...repeatable(request, request.body), prepare });
      if ('skipReason' in outcome) throw new Error('a raw mail was skipped');
      const { providerId, suppressed } = outcome;
      return { id: providerId, ...(suppressed.length > 0 ? { suppressed: [...suppressed] } : {}) };
    },
  );

  app.get(
    '/suppressions',
    {
      ...guard,
      schema: {
        tags,
        summary: 'The addresses that no mail goes to',
        querystring: suppressionListing,
        response: { 200: suppressionPage },
      },
    },
    async (request) => listPage(deps, request.query),
  );

  app.delete(
    '/suppressions/:address',
    {
      ...guard,
      schema: {
        tags,
        summary: 'Send mail to an address again',
        params: suppressedAddress,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      await lift(deps, request.params.address);
      return reply.code(204).send(null);
    },
  );
}

function refuseUnconfigured(isConfigured: boolean) {
  return async () => {
    if (!isConfigured) throw notifyProblems.internal_key_not_configured();
  };
}

/** A path holds the names of a caller's fields. */
const maxPathLength = 200;

/** Judged before the schema, which words its faults by field and passes over fields that it does not know. */
async function refuseUnstorable(request: FastifyRequest): Promise<void> {
  const found = findUnstorable(request.body, 'body');
  if (found !== undefined) throw invalid(found.path.slice(0, maxPathLength), found.message);
}

/** The sentence is fixed (docs/specification/notify.md#notify). */
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
