/**
 * `/unsubscribe?token=…`, the target of the links in mails (docs/specification/notify.md). A GET changes nothing,
 * because mail scanners open every link. A POST does, from the page or from a mail client (RFC 8058).
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { unsubscribe } from '#accounts/store.ts';
import { readUnsubscribe } from '#accounts/unsubscribing.ts';
import { html } from '#platform/escaping.ts';
import { routesOf, unguarded } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { type ContentLanguage, negotiateLanguage } from '#platform/language.ts';
import type { ContentContext } from './context.ts';
import pageTexts from './unsubscribing.json' with { type: 'json' };

const query = z.object({ token: z.string().max(128).optional() });

export function addUnsubscribing(
  app: HttpServer,
  accounts: ContentContext['accounts'],
  unsubscribeSecret: string,
): void {
  const routes = routesOf(app, 'content');
  const read = (token = '') => readUnsubscribe(unsubscribeSecret, token);

  routes.get('/unsubscribe', unguarded, {
    id: 'readUnsubscribePage',
    summary: 'Show the unsubscribe confirmation page',
    description: 'Shows a page with an unsubscribe button. Emails link to this page.',
    otherResponses: { 200: ['The page.', 'text/html'], 400: ['A page for an invalid link.', 'text/html'] },
    client: { query: 'UnsubscribeLink', kind: 'page' },
    querystring: query,
    handler: async (request, reply) => showPage(request, reply, read(request.query.token) ? 'question' : 'invalid'),
  });

  app.register(async (forms: HttpServer) => {
    // The body of a form or of a mail client adds nothing to the URL.
    forms.addContentTypeParser('*', { bodyLimit: 4096, parseAs: 'buffer' }, (_request, _body, done) => done(null));
    routesOf(forms, 'content').post('/unsubscribe', unguarded, {
      id: 'unsubscribe',
      summary: 'Unsubscribe from notification email',
      description: 'Unsubscribes the user of the token. Mail clients call it for one-click unsubscribe (RFC 8058).',
      otherResponses: { 200: ['A page.', 'text/html'], 400: ['A page for an invalid link.', 'text/html'] },
      client: { query: 'UnsubscribeLink', kind: 'page', repeatable: true },
      querystring: query,
      handler: async (request, reply) => {
        const unsubscription = read(request.query.token);
        if (unsubscription !== undefined) await unsubscribe(accounts, unsubscription);
        return showPage(request, reply, unsubscription === undefined ? 'invalid' : 'done');
      },
    });
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

// The page of the link at the foot of a mail. It works without scripts, in the reader's language.

type PageState = 'question' | 'done' | 'invalid';

export function renderUnsubscribePage(language: ContentLanguage, state: PageState): string {
  const texts = pageTexts[language];
  // The URL of the page contains the token, and the form posts to the same URL.
  const form = html`<form method="post"><button>${texts.title}</button></form>`;
  return html`<!doctype html>
<html lang="${language.replace('_', '-')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${texts.title}</title>
<style>
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 16px/1.6 system-ui, sans-serif; color-scheme: light dark }
main { max-width: 28rem; padding: 2rem }
h1 { font-size: 1.375rem }
button { font: inherit; font-weight: 600; padding: .75rem 1.25rem; border: 0; border-radius: .5rem; background: #3730a3; color: #fff; cursor: pointer }
button:focus-visible { outline: 3px solid; outline-offset: 3px }
</style>
</head>
<body>
<main>
<h1>${texts.title}</h1>
<p>${texts[state]}</p>
${state === 'question' ? form : ''}
</main>
</body>
</html>
`.text;
}
