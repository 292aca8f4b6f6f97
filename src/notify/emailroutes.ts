/** The routes of raw mails, which are compatible with the provider's own library. */

import type { FastifyRequest } from 'fastify';
import type { Access } from '#platform/access/access.ts';
import { idempotencyHeaders } from '#platform/http/idempotency.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { acceptBatch } from './batching.ts';
import {
  batchAnswer,
  canceledEmail,
  email,
  emailAnswer,
  emailBatch,
  emailId,
  emailList,
  emailListing,
  emailRequest,
} from './emailapi.ts';
import { cancelEmail, listEmails, mailOf, showEmail } from './emails.ts';
import { notifyProblems } from './problems.ts';
import { type SendingDeps, sendOnce } from './sending.ts';

type Guard = Omit<Access['internalOrBearer'], 'onRequest'> & {
  readonly onRequest: Access['internalOrBearer']['onRequest'][];
};

const maxEmailBytes = 40 * 1024 * 1024;
const maxBatchBytes = 10 * 1024 * 1024;

export function addEmailRoutes(app: HttpServer, guard: Guard, deps: SendingDeps): void {
  const routes = routesOf(app, 'notify');

  routes.post(
    '/emails',
    { ...guard, bodyLimit: maxEmailBytes },
    { summary: 'Send an email', headers: idempotencyHeaders, body: emailRequest, response: { 200: emailAnswer } },
    async (request) => {
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
  );

  routes.post(
    '/emails/batch',
    { ...guard, bodyLimit: maxBatchBytes },
    { summary: 'Send up to 100 emails', headers: idempotencyHeaders, body: emailBatch, response: { 200: batchAnswer } },
    async (request) => {
      const ids = await acceptBatch(deps, { requests: request.body, key: keyOf(request) });
      return { data: ids.map((id) => ({ id })) };
    },
  );

  routes.get(
    '/emails',
    guard,
    { summary: 'List accepted emails, newest first', querystring: emailListing, response: { 200: emailList } },
    async (request) => listEmails(deps, request.query),
  );

  routes.get(
    '/emails/:id',
    guard,
    { summary: 'Read the status of an email', params: emailId, response: { 200: email } },
    async (request) => showEmail(deps, request.params.id),
  );

  routes.post(
    '/emails/:id/cancel',
    guard,
    { summary: 'Cancel a scheduled email', params: emailId, response: { 200: canceledEmail } },
    async (request) => {
      await cancelEmail(deps, request.params.id);
      return { object: 'email' as const, id: request.params.id };
    },
  );
}

export function keyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}
