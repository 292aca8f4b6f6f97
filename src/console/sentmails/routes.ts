/** The Mail page: types of mails and their previews, sent mails, and suppressed addresses, all from the notification service. */

import type { FastifyReply } from 'fastify';
import { hashedTarget, targetOn } from '#platform/audit/audit.ts';
import { bodyOf } from '#platform/http/client.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import type { ConsoleContext } from '../context.ts';
import { mailPolicy } from '../mails.ts';
import { type OperatorGuard, recordDeed } from '../operators/guard.ts';
import { addForwards, forward, type ServiceClients } from '../services.ts';
import * as api from './api.ts';

export function addSentMailRoutes(
  app: HttpServer,
  guard: OperatorGuard,
  { db }: ConsoleContext,
  { notify }: ServiceClients,
): void {
  const routes = routesOf(app, 'console');
  /** Shows the HTML part of a mail as a page. */
  const show = (reply: FastifyReply, mail: object) => {
    const html: unknown = Reflect.get(mail, 'html');
    if (typeof html !== 'string') throw problems.not_found();
    return reply.header('content-security-policy', mailPolicy).type('text/html; charset=utf-8').send(html);
  };
  const renderType = async (params: { readonly type: string }, json: api.PreviewQuery) =>
    bodyOf<object>(
      await notify.send({ method: 'POST', route: '/types/:type/preview', params, json, idempotent: true }),
    );

  const listed = { querystring: api.sentMailQuery };
  const suppressed = { querystring: api.suppressionQuery };
  addForwards(app, guard, notify, [
    ['get', '/api/notify/types', '/types', 'List notification types'],
    ['get', '/api/notify/emails', '/emails', 'List sent and scheduled emails, newest first', listed],
    ['get', '/api/notify/emails/:id', '/emails/:id', 'Read the status of an email', { params: api.sentMailPath }],
    ['get', '/api/notify/suppressions', '/suppressions', 'Suppressed addresses', suppressed],
  ]);

  const previewOf = { params: api.previewPath, querystring: api.previewQuery };
  routes.get('/api/notify/types/:type/preview', guard, {
    summary: 'Preview a notification with these values',
    ...previewOf,
    handler: async ({ params, query }) => renderType(params, query),
  });

  routes.get('/api/notify/types/:type/html', guard, {
    summary: 'Show the preview of a notification as a page, in a sandbox',
    ...previewOf,
    handler: async ({ params, query }, reply) => show(reply, await renderType(params, query)),
  });

  const readMail = forward(notify, 'GET', '/emails/:id');
  routes.get('/api/notify/emails/:id/html', guard, {
    summary: 'Show an email that is not sent as a page, in a sandbox',
    params: api.sentMailPath,
    handler: async (request, reply) => show(reply, await readMail(request)),
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
        const { to } = (await readMail(request)) as { readonly to: readonly string[] };
        const answer = await change(request);
        const people = to.map((one) => (/<([^<>]+)>$/.exec(one)?.[1] ?? one).toLowerCase());
        await recordDeed(db, request, action, targetOn(`mail ${request.params.id}`, ...people));
        return answer;
      },
    });

  const lift = forward(notify, 'DELETE', '/suppressions/:address');
  routes.delete('/api/notify/suppressions/:address', guard, {
    summary: 'Remove an address from the suppression list',
    params: api.suppressionPath,
    handler: async (request, reply) => {
      await lift(request);
      await recordDeed(db, request, 'lift suppression', hashedTarget(request.params.address.toLowerCase()));
      return reply.code(204).send();
    },
  });
}
