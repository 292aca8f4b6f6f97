/** The Mail page: types of mails and their previews, sent mails, and suppressed addresses, all from the notification service. */

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { auditOf, hashedTarget, recordAction } from '#platform/audit/audit.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import type { ConsoleContext } from '../context.ts';
import { mailPolicy } from '../mails.ts';
import { type OperatorGuard, operatorName } from '../operators/guard.ts';
import { passOn, type ServiceClients } from '../services.ts';
import {
  type PreviewQuery,
  previewPath,
  previewQuery,
  sentMailPath,
  sentMailQuery,
  suppressionPath,
  suppressionQuery,
} from './api.ts';

const pageSize = 50;
const rendered = z.object({ html: z.string().nullable() });

export function addSentMailRoutes(
  app: HttpServer,
  guard: OperatorGuard,
  { db }: ConsoleContext,
  { notify }: ServiceClients,
): void {
  const audit = db && auditOf(db);
  const routes = routesOf(app, 'console');
  const record = async (request: FastifyRequest, action: string, target: string) => {
    if (audit !== undefined)
      await recordAction(audit, { actor: operatorName(request), action, target, outcome: 'done' });
  };
  const renderType = (type: string, { locale, data }: PreviewQuery) =>
    notify.send({
      method: 'POST',
      route: '/types/:type/preview',
      params: { type },
      json: { locale, data },
      idempotent: true,
    });

  routes.get('/api/notify/types', guard, { summary: 'List notification types' }, async (_request, reply) =>
    passOn(reply, await notify.send({ method: 'GET', route: '/types' }), 'notification'),
  );

  const previewOf = { params: previewPath, querystring: previewQuery };
  routes.get(
    '/api/notify/types/:type/preview',
    guard,
    { summary: 'Preview a notification with these values', ...previewOf },
    async ({ params, query }, reply) => passOn(reply, await renderType(params.type, query), 'notification'),
  );

  routes.get(
    '/api/notify/types/:type/html',
    guard,
    { summary: 'Show the preview of a notification as a page, in a sandbox', ...previewOf },
    async ({ params, query }, reply) => {
      const response = await renderType(params.type, query);
      if (response.status !== 200) return passOn(reply, response, 'notification');
      const { html } = rendered.parse(response.json());
      return reply.header('content-security-policy', mailPolicy).type('text/html; charset=utf-8').send(html);
    },
  );

  routes.get(
    '/api/notify/emails',
    guard,
    { summary: 'List sent and scheduled emails, newest first', querystring: sentMailQuery },
    async ({ query: { after, q, status } }, reply) => {
      const response = await notify.send({
        method: 'GET',
        route: '/emails',
        query: { limit: pageSize, after, q: q || undefined, status },
      });
      return passOn(reply, response, 'notification');
    },
  );

  routes.get(
    '/api/notify/emails/:id',
    guard,
    { summary: 'Read the status of an email', params: sentMailPath },
    async ({ params }, reply) => {
      const response = await notify.send({ method: 'GET', route: '/emails/:id', params });
      return passOn(reply, response, 'notification');
    },
  );

  routes.get(
    '/api/notify/emails/:id/html',
    guard,
    { summary: 'Show an email that is not sent as a page, in a sandbox', params: sentMailPath },
    async ({ params }, reply) => {
      const response = await notify.send({ method: 'GET', route: '/emails/:id', params });
      if (response.status !== 200) return passOn(reply, response, 'notification');
      const { html } = rendered.parse(response.json());
      if (html === null) throw problems.not_found();
      return reply.header('content-security-policy', mailPolicy).type('text/html; charset=utf-8').send(html);
    },
  );

  const changes = [
    ['cancel', 'Cancel an email that is not sent yet'],
    ['retry', 'Try an email now that failed or is delayed'],
  ] as const;
  for (const [action, summary] of changes)
    routes.post(
      `/api/notify/emails/:id/${action}`,
      guard,
      { summary, params: sentMailPath },
      async (request, reply) => {
        const { id } = request.params;
        const response = await notify.send({
          method: 'POST',
          route: `/emails/:id/${action}`,
          params: { id },
          idempotent: true,
        });
        if (response.status === 200) await record(request, `${action} mail`, `mail ${id}`);
        return passOn(reply, response, 'notification');
      },
    );

  routes.get(
    '/api/notify/suppressions',
    guard,
    { summary: 'Suppressed addresses', querystring: suppressionQuery },
    async ({ query: { cursor } }, reply) => {
      const response = await notify.send({ method: 'GET', route: '/suppressions', query: { limit: pageSize, cursor } });
      return passOn(reply, response, 'notification');
    },
  );

  routes.delete(
    '/api/notify/suppressions/:address',
    guard,
    { summary: 'Remove an address from the suppression list', params: suppressionPath },
    async (request, reply) => {
      const { address } = request.params;
      const response = await notify.send({ method: 'DELETE', route: '/suppressions/:address', params: { address } });
      if (response.status === 204) await record(request, 'lift suppression', hashedTarget(address.toLowerCase()));
      return passOn(reply, response, 'notification');
    },
  );
}
