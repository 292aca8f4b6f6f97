/**
 * `/unsubscribe?token=…`, the target of the links in mails (docs/specification/notify.md). A GET changes nothing,
 * because mail scanners open every link. A POST does, from the page or from a mail client (RFC 8058).
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type AccountTables, unsubscribe } from '#accounts/store.ts';
import { readUnsubscribe } from '#accounts/unsubscribing.ts';
import type { Db } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { negotiateLanguage } from '#platform/language.ts';
import { type PageState, renderUnsubscribePage } from './unsubscribepage.ts';

export interface UnsubscribingDeps {
  readonly accounts: Db<AccountTables>;
  readonly unsubscribeSecret: string;
}

const query = z.object({ token: z.string().max(128).optional() });

export function addUnsubscribing(app: HttpServer, { accounts, unsubscribeSecret }: UnsubscribingDeps): void {
  const routes = routesOf(app, 'content');
  const read = (token = '') => readUnsubscribe(unsubscribeSecret, token);

  routes.get(
    '/unsubscribe',
    {},
    {
      id: 'readUnsubscribePage',
      summary: 'Show the unsubscribe confirmation page',
      description: 'Shows a page with an unsubscribe button. Emails link to this page.',
      otherResponses: { 200: ['The page.', 'text/html'], 400: ['A page for an invalid link.', 'text/html'] },
      client: { query: 'UnsubscribeLink', kind: 'page' },
      querystring: query,
    },
    async (request, reply) => showPage(request, reply, read(request.query.token) ? 'question' : 'invalid'),
  );

  app.register(async (forms: HttpServer) => {
    // The body of a form or of a mail client adds nothing to the URL.
    forms.addContentTypeParser('*', { bodyLimit: 4096, parseAs: 'buffer' }, (_request, _body, done) => done(null));
    routesOf(forms, 'content').post(
      '/unsubscribe',
      {},
      {
        id: 'unsubscribe',
        summary: 'Unsubscribe from notification email',
        description: 'Unsubscribes the user of the token. Mail clients call it for one-click unsubscribe (RFC 8058).',
        otherResponses: { 200: ['A page.', 'text/html'], 400: ['A page for an invalid link.', 'text/html'] },
        client: { query: 'UnsubscribeLink', kind: 'page', repeatable: true },
        querystring: query,
      },
      async (request, reply) => {
        const unsubscription = read(request.query.token);
        if (unsubscription !== undefined) await unsubscribe(accounts, unsubscription);
        return showPage(request, reply, unsubscription === undefined ? 'invalid' : 'done');
      },
    );
  });
}

function showPage(request: FastifyRequest, reply: FastifyReply, state: PageState) {
  const page = renderUnsubscribePage(negotiateLanguage(request.headers['accept-language']), state);
  return reply
    .code(state === 'invalid' ? 400 : 200)
    .headers({
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      // The URL is a bearer secret.
      'referrer-policy': 'no-referrer',
      vary: 'Accept-Language',
    })
    .type('text/html; charset=utf-8')
    .send(page);
}
