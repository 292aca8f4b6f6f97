/** `/s/:id/report`: the form that reports a page (docs/specification/media.md#reports). It needs neither an account nor a script. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { reportReasons } from '#media/reports/api.ts';
import { shareParams } from '#media/shares/api.ts';
import { html } from '#platform/escaping.ts';
import type { HttpClient } from '#platform/http/client.ts';
import { clientAddressReader } from '#platform/http/clientaddress.ts';
import type { HttpServer } from '#platform/http/httpserver.ts';
import { routesOf } from '#platform/http/routes.ts';
import { negotiateLanguage } from '#platform/language.ts';
import { problems } from '#platform/problem.ts';
import { layout, type PageContext, pagePolicy } from './page.ts';
import { reportTexts } from './reporttexts.ts';

export interface ReportPages {
  /** Of the media service, with the internal key. */
  readonly media: HttpClient;
  /** The name of the product. */
  readonly brand: string;
  /** EDGE_URL. */
  readonly edgeUrl: string;
  /** TRUSTED_PROXIES. */
  readonly trustedProxies: readonly string[];
}

const maxFormBytes = 32 * 1024;
const statuses = { form: 200, missing: 400, tooMany: 429, done: 200 } as const;
type State = keyof typeof statuses;

export function addReportForm(app: HttpServer, { media, brand, edgeUrl, trustedProxies }: ReportPages): void {
  const readAddress = clientAddressReader(trustedProxies);

  function show(request: FastifyRequest, reply: FastifyReply, id: string, state: State) {
    const language = negotiateLanguage(request.headers['accept-language']);
    return reply
      .code(statuses[state])
      .headers({
        'cache-control': 'no-store',
        'content-security-policy': pagePolicy,
        'content-language': language.replace('_', '-'),
        'x-robots-tag': 'noindex',
        vary: 'Accept-Language',
      })
      .type('text/html; charset=utf-8')
      .send(renderForm({ language, brand, edgeUrl }, id, state));
  }

  routesOf(app, 'edge').get(
    '/s/:id/report',
    {},
    {
      id: 'readReportForm',
      summary: 'Show the form that reports a share',
      description: 'Returns a form. It works without an account and without JavaScript.',
      otherResponses: { 200: ['The form.', 'text/html'] },
      client: { kind: 'page' },
      params: shareParams,
    },
    async (request, reply) => show(request, reply, request.params.id, 'form'),
  );

  app.register(async (forms: HttpServer) => {
    forms.removeAllContentTypeParsers();
    forms.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { bodyLimit: maxFormBytes, parseAs: 'string' },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    routesOf(forms, 'edge').post(
      '/s/:id/report',
      {},
      {
        id: 'sendReportForm',
        summary: 'Report a share by its form',
        description:
          'Sends a report as the form does: `reason`, `note` and `contact`, as `application/x-www-form-urlencoded`.',
        problems: ['not_found', 'rate_limited', 'unsupported_media_type', 'payload_too_large'],
        otherResponses: { 200: ['The report was received.', 'text/html'] },
        client: { kind: 'page' },
        params: shareParams,
      },
      async (request, reply) => {
        const { id } = request.params;
        const form = Object(request.body) as Readonly<Record<string, string | undefined>>;
        const reason = reportReasons.find((known) => known === form.reason);
        if (reason === undefined) return show(request, reply, id, 'missing');
        const { status } = await media.send({
          method: 'POST',
          route: '/v1/reports',
          json: {
            shareId: id,
            reason,
            note: storable(form.note, 2000),
            contact: storable(form.contact, 320),
            locale: negotiateLanguage(request.headers['accept-language']),
            address: readAddress(request) ?? request.ip,
          },
          idempotent: true,
        });
        if (status === 404) throw problems.not_found({ message: 'There is no such share.' });
        if (status === 429) return show(request, reply, id, 'tooMany');
        if (status !== 200 && status !== 201)
          throw problems.engine_unavailable({ cause: new Error(`the media service returned ${status}`) });
        return show(request, reply, id, 'done');
      },
    );
  });
}

/** Browsers limit the fields to these lengths. */
const storable = (text = '', max: number) =>
  text.replaceAll('\0', '').toWellFormed().trim().slice(0, max).toWellFormed();

function renderForm(context: PageContext, id: string, state: State): string {
  const texts = reportTexts[context.language];
  const url = `${context.edgeUrl}/s/${id}`;
  const reasons = reportReasons.map(
    (reason, index) =>
      html`<label><input type="radio" name="reason" value="${reason}" required> ${texts.reasons[index] ?? reason}</label>`,
  );
  const form = html`<form method="post" action="${url}/report">
<fieldset><legend>${texts.question}</legend>${reasons}</fieldset>
<label>${texts.note}<textarea name="note" maxlength="2000" rows="4"></textarea></label>
<label>${texts.contact}<input type="email" name="contact" maxlength="320" autocomplete="email"></label>
<button>${texts.report}</button>
</form>`;
  const message = state === 'form' ? '' : html`<p role="status">${texts[state]}</p>`;
  return layout(context, {
    head: html`<title>${texts.report} · ${context.brand}</title>
<meta name="robots" content="noindex">`,
    mark: '',
    body: html`<h1>${texts.report}</h1>
${message}
${state === 'form' || state === 'missing' ? form : ''}
<p><a href="${url}">${texts.back}</a></p>`,
  });
}
