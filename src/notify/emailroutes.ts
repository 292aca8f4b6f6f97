/** The routes of raw mails, which are compatible with the provider's own library. */

import type { FastifyRequest } from 'fastify';
import type { Access } from '#platform/access/access.ts';
import { idempotencyHeaders } from '#platform/http/idempotency.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { NotifyContext } from './context.ts';
import * as api from './emailapi.ts';
import { cancelEmail, listEmails, mailOf, retryEmail, showEmail } from './emails.ts';
import { notifyProblems } from './problems.ts';
import { acceptBatch, sendOnce } from './sending.ts';

const mail = {
  from: 'Atelier <hello@example.com>',
  to: ['ada@example.com'],
  subject: 'Your video is ready',
  text: 'Watch it at https://example.com/videos/1.',
};
const sending = ['idempotency_conflict', 'email_failed', 'send_in_progress'] as const;

type Guard = Omit<Access['internalOrBearer'], 'onRequest'> & {
  readonly onRequest: Access['internalOrBearer']['onRequest'][];
};

const maxEmailBytes = 40 * 1024 * 1024;
const maxBatchBytes = 10 * 1024 * 1024;

export function addEmailRoutes(app: HttpServer, guard: Guard, deps: NotifyContext): void {
  const routes = routesOf(app, 'notify');
  const emailGuard = { ...guard, bodyLimit: maxEmailBytes };
  const batchGuard = { ...guard, bodyLimit: maxBatchBytes };

  routes.post('/emails', emailGuard, {
    id: 'sendEmail',
    summary: 'Send an email',
    description:
      'Sends an email now, or at `scheduled_at`. The request is compatible with the API of Resend. Use the internal key as its API key (bearer token).',
    problems: ['recipient_suppressed', ...sending],
    example: mail,
    headers: idempotencyHeaders,
    body: api.emailRequest,
    response: { 200: api.emailAnswer },
    handler: async (request) => {
      const { html, text, scheduled_at: at } = request.body;
      // docs/specification/notify.md#emails fixes this status and the message.
      if (!html && !text) throw notifyProblems.email_failed({ message: 'Either html or text must be provided' });
      const outcome = await sendOnce(deps, {
        endpoint: 'emails',
        key: keyOf(request),
        body: request.body,
        prepare: async () => ({ mail: mailOf(request.body) }),
        scheduledAt: at !== undefined && at.getTime() > Date.now() ? at : undefined,
      });
      if ('skipReason' in outcome) throw new Error('a raw email was skipped');
      const { providerId, suppressed } = outcome;
      return { id: providerId, ...(suppressed.length > 0 ? { suppressed: [...suppressed] } : {}) };
    },
  });

  routes.post('/emails/batch', batchGuard, {
    id: 'sendEmails',
    summary: 'Send up to 100 emails',
    description: 'Accepts up to 100 emails. Either all are accepted or none.',
    problems: sending,
    example: [mail],
    headers: idempotencyHeaders,
    body: api.emailBatch,
    response: { 200: api.emailBatchAnswer },
    handler: async (request) => {
      const ids = await acceptBatch(deps, { requests: request.body, key: keyOf(request) });
      return { data: ids.map((id) => ({ id })) };
    },
  });

  routes.get('/emails', guard, {
    id: 'listEmails',
    summary: 'List accepted emails, newest first',
    description: 'Returns the accepted emails with their status, newest first.',
    querystring: api.emailListing,
    response: { 200: api.emailList },
    handler: async (request) => listEmails(deps, request.query),
  });

  routes.get('/emails/:id', guard, {
    id: 'readEmail',
    summary: 'Read the status of an email',
    description: 'Returns the status and the events of an email.',
    problems: ['not_found'],
    params: api.emailId,
    response: { 200: api.email },
    handler: async (request) => showEmail(deps, request.params.id),
  });

  routes.post('/emails/:id/cancel', guard, {
    id: 'cancelEmail',
    summary: 'Cancel a scheduled email',
    description: 'Cancels an email that is not sent yet.',
    problems: ['not_found', 'not_cancelable'],
    client: { answer: 'CanceledEmail', repeatable: true },
    params: api.emailId,
    response: { 200: api.changedEmail },
    handler: async (request) => {
      await cancelEmail(deps, request.params.id);
      return { object: 'email' as const, id: request.params.id };
    },
  });

  routes.post('/emails/:id/retry', guard, {
    id: 'retryEmail',
    summary: 'Try a failed email now',
    description: 'Tries an email again that failed, or whose next attempt is later. Its recipients get it once.',
    problems: ['not_found', 'not_retryable'],
    client: { answer: 'RetriedEmail', repeatable: true },
    params: api.emailId,
    response: { 200: api.changedEmail },
    handler: async (request) => {
      await retryEmail(deps, request.params.id);
      return { object: 'email' as const, id: request.params.id };
    },
  });
}

export function keyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}
