/** The Mail page: types of mails and their previews, sent mails, and suppressed addresses, all from the notification service. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { auditOf, hashedTarget, recordAction } from '#platform/audit/audit.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import type { ConsoleContext } from '../context.ts';
import { mailPolicy } from '../mails.ts';
import { type OperatorGuard, operatorName } from '../operators/guard.ts';
import { forward, passOn, type ServiceClients } from '../services.ts';
import * as api from './api.ts';

type Response = Parameters<typeof passOn>[1];

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
  const readMail = (params: z.output<typeof api.sentMailPath>) =>
    notify.send({ method: 'GET', route: '/emails/:id', params });
  const relay = (reply: FastifyReply, response: Response) => passOn(reply, response, 'notification');
  /** Shows the mail of a response as a page. */
  const show = (reply: FastifyReply, response: Response) => {
    if (response.status !== 200) return relay(reply, response);
    const { html } = rendered.parse(response.json());
    if (html === null) throw problems.not_found();
    return reply.header('content-security-policy', mailPolicy).type('text/html; charset=utf-8').send(html);
  };
  const renderType = (type: string, { locale, data }: api.PreviewQuery) =>
    notify.send({
      method: 'POST',
      route: '/types/:type/preview',
      params: { type },
      json: { locale, data },
      idempotent: true,
    });

  routes.get('/api/notify/types', guard, {
    summary: 'List notification types',
    handler: async (_request, reply) => relay(reply, await notify.send({ method: 'GET', route: '/types' })),
  });

  const previewOf = { params: api.previewPath, querystring: api.previewQuery };
  routes.get('/api/notify/types/:type/preview', guard, {
    summary: 'Preview a notification with these values',
    ...previewOf,
    handler: async ({ params, query }, reply) => relay(reply, await renderType(params.type, query)),
  });

  routes.get('/api/notify/types/:type/html', guard, {
    summary: 'Show the preview of a notification as a page, in a sandbox',
    ...previewOf,
    handler: async ({ params, query }, reply) => show(reply, await renderType(params.type, query)),
  });

  routes.get('/api/notify/emails', guard, {
    summary: 'List sent and scheduled emails, newest first',
    querystring: api.sentMailQuery,
    handler: async ({ query: { after, q, status } }, reply) => {
      const query = { limit: pageSize, after, q: q || undefined, status };
      return relay(reply, await notify.send({ method: 'GET', route: '/emails', query }));
    },
  });

  routes.get('/api/notify/emails/:id', guard, {
    summary: 'Read the status of an email',
    params: api.sentMailPath,
    handler: async ({ params }, reply) => relay(reply, await readMail(params)),
  });

  routes.get('/api/notify/emails/:id/html', guard, {
    summary: 'Show an email that is not sent as a page, in a sandbox',
    params: api.sentMailPath,
    handler: async ({ params }, reply) => show(reply, await readMail(params)),
  });

  const cancel = forward(notify, 'POST', '/emails/:id/cancel');
  const retry = forward(notify, 'POST', '/emails/:id/retry');
  const changes = [
    ['/api/notify/emails/:id/cancel', 'cancel mail', cancel, 'Cancel an email that is not sent yet'],
    ['/api/notify/emails/:id/retry', 'retry mail', retry, 'Try an email now that failed or is delayed'],
  ] as const;
  for (const [path, action, change, summary] of changes)
    routes.post(path, guard, {
      summary,
      params: api.sentMailPath,
      handler: async (request) => {
        const answer = await change(request);
        await record(request, action, `mail ${request.params.id}`);
        return answer;
      },
    });

  routes.get('/api/notify/suppressions', guard, {
    summary: 'Suppressed addresses',
    querystring: api.suppressionQuery,
    handler: async ({ query: { cursor } }, reply) =>
      relay(reply, await notify.send({ method: 'GET', route: '/suppressions', query: { limit: pageSize, cursor } })),
  });

  routes.delete('/api/notify/suppressions/:address', guard, {
    summary: 'Remove an address from the suppression list',
    params: api.suppressionPath,
    handler: async (request, reply) => {
      const { address } = request.params;
      const response = await notify.send({ method: 'DELETE', route: '/suppressions/:address', params: { address } });
      if (response.status === 204) await record(request, 'lift suppression', hashedTarget(address.toLowerCase()));
      return relay(reply, response);
    },
  });
}
