/** The Mail page: types of mails and their previews, sent mails, and suppressed addresses, all from the notification service. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { hashedTarget, targetOn } from '#platform/audit/audit.ts';
import { bodyOf } from '#platform/http/client.ts';
import type { Routes } from '#platform/http/routes.ts';
import { problems } from '#platform/problem.ts';
import type { ConsoleContext } from '../context.ts';
import { mailPolicy } from '../mails.ts';
import { type OperatorGuard, recordDeed } from '../operators/guard.ts';
import { addForwards, readFrom, type ServiceClients } from '../services.ts';
import * as api from './api.ts';

/** As the notification service returns it. `html`: `null` if the text is deleted, or has no such part. */
interface SentMail {
  readonly to: readonly string[];
  readonly html: string | null;
}

export function addSentMailRoutes(
  routes: Routes,
  guard: OperatorGuard,
  { db }: ConsoleContext,
  { notify }: ServiceClients,
): void {
  /** Shows the HTML part of a mail as a page. */
  const show = (reply: FastifyReply, { html }: Pick<SentMail, 'html'>) => {
    if (html === null) throw problems.not_found();
    return reply.header('content-security-policy', mailPolicy).type('text/html; charset=utf-8').send(html);
  };
  const renderType = async (params: { readonly type: string }, json: api.PreviewQuery) =>
    bodyOf<Pick<SentMail, 'html'>>(
      await notify.send({ method: 'POST', route: '/types/:type/preview', params, json, idempotent: true }),
    );

  const readMail = (id: string) => readFrom<SentMail>(notify, '/emails/:id', {}, { id });
  const changed = (action: string) => async (request: FastifyRequest) => {
    const { id } = request.params as z.output<typeof api.sentMailPath>;
    const { to } = await readMail(id);
    const people = to.map((one) => (/<([^<>]+)>$/.exec(one)?.[1] ?? one).toLowerCase());
    await recordDeed(db, request, action, targetOn(`mail ${id}`, ...people));
  };
  const lifted = async (request: FastifyRequest) => {
    const { address } = request.params as z.output<typeof api.suppressionPath>;
    await recordDeed(db, request, 'lift suppression', hashedTarget(address.toLowerCase()));
  };

  const [mails, mail] = [{ querystring: api.sentMailQuery }, { params: api.sentMailPath }];
  const [addresses, address] = [{ querystring: api.suppressionQuery }, { params: api.suppressionPath }];
  addForwards(routes, guard, notify, [
    ['get', '/api/notify/types', '/types', 'List notification types'],
    ['get', '/api/notify/emails', '/emails', 'List sent and scheduled emails, newest first', mails],
    ['get', '/api/notify/emails/:id', '/emails/:id', 'Read the status of an email', mail],
    [
      ...(['post', '/api/notify/emails/:id/cancel', '/emails/:id/cancel'] as const),
      ...(['Cancel an email that is not sent yet', mail, changed('cancel mail')] as const),
    ],
    [
      ...(['post', '/api/notify/emails/:id/retry', '/emails/:id/retry'] as const),
      ...(['Try an email now that failed or is delayed', mail, changed('retry mail')] as const),
    ],
    ['get', '/api/notify/suppressions', '/suppressions', 'Suppressed addresses', addresses],
    [
      ...(['delete', '/api/notify/suppressions/:address', '/suppressions/:address'] as const),
      ...(['Remove an address from the suppression list', address, lifted] as const),
    ],
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

  routes.get('/api/notify/emails/:id/html', guard, {
    summary: 'Show an email that is not sent as a page, in a sandbox',
    params: api.sentMailPath,
    handler: async ({ params }, reply) => show(reply, await readMail(params.id)),
  });
}
