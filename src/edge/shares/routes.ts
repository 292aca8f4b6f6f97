/**
 * `GET /s/:id`: the pages of shares (docs/specification/media.md#shares). The media service has the data. A process reads a share
 * at most once a second, so a page ends within a second of its share, and any number of readers cost the database nothing.
 */
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { objectSource } from '#image/engine/sources.ts';
import { preview, thumbnail, toTransform } from '#image/engine/specs.ts';
import { reportReasons } from '#media/reports/api.ts';
import { type ShareData, type SharedMedia, shareData, shareParams } from '#media/shares/api.ts';
import type { Clock } from '#platform/clock.ts';
import { html } from '#platform/escaping.ts';
import type { HttpClient } from '#platform/http/client.ts';
import { clientAddressReader } from '#platform/http/clientaddress.ts';
import type { HttpServer } from '#platform/http/httpserver.ts';
import { routesOf } from '#platform/http/routes.ts';
import { etagOf, sendValidated } from '#platform/http/validators.ts';
import { type ContentLanguage, negotiateLanguage } from '#platform/language.ts';
import { mayShowInline } from '#platform/objects/disposition.ts';
import { type Problem, problems } from '#platform/problem.ts';
import type { EdgeContext } from '../context.ts';
import { sendVariantOf } from '../resizing.ts';
import { sendObject } from '../sending.ts';
import * as views from './page.ts';
import reportTexts from './reporttexts.json' with { type: 'json' };

// The images and videos of a share, at URLs that end with it.

const sharedFiles = ['full.webp', 'full.jpg', 'full.png', 'preview.webp', 'thumb.webp', 'card.jpg', 'video'] as const;

const transforms = {
  'full.webp': toTransform({ width: 2048, height: 2048, quality: 85 }),
  // For downloads.
  'full.jpg': toTransform({ width: 2048, height: 2048, quality: 90, format: 'jpeg' }),
  'full.png': toTransform({ width: 2048, height: 2048, format: 'png' }),
  'preview.webp': toTransform(preview),
  'thumb.webp': toTransform(thumbnail),
  // The size that sites with previews of links recommend.
  'card.jpg': toTransform({
    width: 1200,
    height: 630,
    quality: 80,
    resizingType: 'fill',
    enlarge: true,
    format: 'jpeg',
  }),
} as const;

/** Throws 404 if the share has no such file, and what `sendObject` throws. */
async function sendShared(
  deps: EdgeContext,
  request: FastifyRequest,
  reply: FastifyReply,
  media: SharedMedia,
  name: (typeof sharedFiles)[number],
) {
  const source = name === 'video' ? media.file : media.picture;
  const objects = source === null ? undefined : deps.bucket(source.bucket);
  if (source === null || objects === undefined) throw problems.not_found();
  const etag = source.etag ?? undefined;
  if (name === 'video') {
    if (!mayShowInline(source.mime)) throw problems.not_found();
    return sendObject(request, reply, { objects, key: source.key, etag, contentType: source.mime, cacheControl });
  }
  const head = await objects.head(source.key);
  if (head === undefined || (etag ?? head.etag) !== head.etag) throw problems.not_found();
  const version = deps.isReplaceable(source.bucket) ? head.etag : undefined;
  const named = objectSource(objects, source.key, etag ?? version, version);
  return sendVariantOf(deps, request, reply, named, transforms[name], { cacheControl });
}

export interface SharePages extends Omit<views.PageContext, 'language'> {
  /** Monotonic. */
  readonly clock: Clock;
  /** Of the media service, with the internal key. */
  readonly media: HttpClient;
  /** TRUSTED_PROXIES. */
  readonly trustedProxies: readonly string[];
}

/** Issued pages end within five seconds of their share, of which caches may use these. */
const cacheControl = 'public, max-age=5';
const reusableMs = 1000;
const retryMs = 60_000;
/** Of the shares that were read, with their pages in every language, each with styles and a script. */
const mostBytes = 128 * 1024 * 1024;

const page = 'text/html; charset=utf-8';
const json = 'application/json; charset=utf-8';
const vary = 'Accept, Accept-Language';

const pageHeadersOf = (language: ContentLanguage) => ({
  'content-security-policy': views.pagePolicy,
  'content-language': views.localeOf(language),
});

const fileParams = shareParams.extend({
  index: z.coerce.number().int().min(0).max(10_000),
  file: z.enum(sharedFiles),
});

interface Read {
  /** `undefined`: there is no such share. */
  readonly data: ShareData | undefined;
  readonly view: views.PublicShare | undefined;
  readonly digest: string;
  until: number;
  answers?: Promise<views.Answers> | undefined;
  /** Of the answers. */
  tries: number;
  retryAt: number;
  /** The pages with their tags, by language, or `json`. Further answers begin another map. */
  rendered: Map<string, { readonly body: string; readonly etag: string }>;
  /** Of the data and the answers. */
  bytes: number;
}

export function addShareRoutes(app: HttpServer, pages: SharePages, files: EdgeContext): void {
  const { media, clock, edgeUrl } = pages;
  // Browsers request it with the images, too, which have no page that names it.
  app.get('/favicon.ico', { schema: { hide: true } }, (_request, reply) =>
    reply.headers({ 'cache-control': 'public, max-age=86400' }).type('image/svg+xml').send(views.logo),
  );
  const routes = routesOf(app, 'edge');
  const shown = withErrorPage(pages);
  const known = new LRUCache<string, Read>({ maxSize: mostBytes });
  const reading = new Map<string, Promise<Read>>();
  addReportForm(app, pages, find);

  async function load(id: string): Promise<Read> {
    try {
      const answer = await media.send({ method: 'GET', route: '/v1/shares/:id/data', params: { id } });
      const { status, body } = answer;
      if (status !== 200 && status !== 404)
        throw problems.engine_unavailable({ cause: new Error(`the media service returned ${status}`) });
      const until = clock.now() + reusableMs;
      const digest = hash('sha256', body);
      const before = known.get(id);
      if (before?.digest === digest) return Object.assign(before, { until });
      const data = status === 200 ? shareData.parse(answer.json()) : undefined;
      const view = data && views.showShare(data, edgeUrl);
      return store(id, { data, view, digest, until, rendered: new Map(), tries: 0, retryAt: 0, bytes: body.length });
    } finally {
      reading.delete(id);
    }
  }

  function find(id: string): Read | Promise<Read> {
    const found = known.get(id);
    if (found !== undefined && clock.now() < found.until) return found;
    const under = reading.get(id) ?? load(id);
    reading.set(id, under);
    return under;
  }

  function store(id: string, read: Read): Read {
    known.delete(id);
    known.set(id, read, { size: Math.min(mostBytes, 14 * (read.bytes + 16_384)) });
    return read;
  }

  /** While answers are missing that took too long, the first visitor after 1, 8, 64 … minutes begins another try. */
  function answersOf(id: string, read: Read, view: views.PublicShare): Promise<views.Answers> {
    const { answers: before } = read;
    if (before !== undefined && clock.now() < read.retryAt) return before;
    const tries = before === undefined ? 0 : read.tries + 1;
    Object.assign(read, { tries, retryAt: clock.now() + retryMs * 8 ** tries });
    const next = Promise.resolve(before).then(async (had) => {
      const answers = await views.renderAnswers(view, had, tries);
      if (answers === had) return answers;
      if (had !== undefined) Object.assign(read, { answers: next, rendered: new Map() });
      for (const [text, answer] of answers) if (!had?.has(text)) read.bytes += answer.text.length;
      if (known.peek(id) === read) store(id, read);
      return answers;
    });
    next.catch(() => {
      read.answers = before;
    });
    read.answers = before ?? next;
    return read.answers;
  }

  /** Rendered once per reading and language, not once per request. */
  function once(rendered: Read['rendered'], name: string, render: () => string) {
    let found = rendered.get(name);
    if (found === undefined) {
      const body = render();
      found = { body, etag: etagOf(body) };
      rendered.set(name, found);
    }
    return found;
  }

  async function showPage(request: FastifyRequest, reply: FastifyReply, id: string) {
    const language = negotiateLanguage(request.headers['accept-language']);
    const context = { ...pages, language };
    const read = await find(id);
    const { view } = read;
    if (view === undefined) throw problems.not_found({ message: 'There is no such share.' });
    if (!view.index) reply.header('x-robots-tag', 'noindex');
    if (wantsJson(request)) {
      const { body, etag } = once(read.rendered, 'json', () => JSON.stringify(view));
      return sendValidated(request, reply, { body, etag, type: json, vary, cacheControl });
    }
    const { rendered } = read;
    const answers = await answersOf(id, read, view);
    const { body, etag } = once(rendered, language, () => views.renderShare(view, context, answers));
    reply.headers(pageHeadersOf(language));
    return sendValidated(request, reply, { body, etag, type: page, vary, cacheControl });
  }

  routes.get('/s/:id', shown, {
    id: 'readShare',
    summary: 'Show the page of a share',
    description:
      'Returns the page of a shared image, video, conversation or album. With `Accept: application/json`, it returns the data of the page.',
    problems: ['not_found'],
    otherResponses: { 200: ['The page.', 'text/html'], 304: ['The page matches `If-None-Match`.'] },
    params: shareParams,
    handler: async (request, reply) => showPage(request, reply, request.params.id),
  });

  routes.get('/s/:id/:index/:file', shown, {
    id: 'readSharedFile',
    summary: 'Show an image or a video of a share',
    description: 'Returns a variant of an image, or the video. The URLs are on the page, and end with the share.',
    problems: ['not_found', 'condition_failed', 'range_not_satisfiable', 'processing_timeout'],
    otherResponses: { 200: ['The bytes.', 'image/webp'], 206: ['The requested range.', 'video/mp4'] },
    params: fileParams,
    handler: async (request, reply) => {
      const { id, index, file } = request.params;
      const { data } = await find(id);
      const media = data?.media.find(({ place }) => place === index);
      if (media === undefined) throw problems.not_found();
      return sendShared(files, request, reply, media, file);
    },
  });
}

const namesHtml = ({ headers: { accept = '' } }: FastifyRequest) => accept.includes('text/html');

/** Browsers name HTML. A client that names neither gets the page. */
const wantsJson = (request: FastifyRequest) =>
  request.headers.accept?.includes('application/json') === true && !namesHtml(request);

/** Errors are pages, too. A file that is opened in place of a page has them, but not one that a page shows. */
const withErrorPage = (pages: Omit<views.PageContext, 'language'>) => ({
  config: {
    errorPage({ status }: Problem, request: FastifyRequest, reply: FastifyReply) {
      if (wantsJson(request) || (request.route?.endsWith('/:file') && !namesHtml(request))) return undefined;
      const language = negotiateLanguage(request.headers['accept-language']);
      reply.headers({ ...pageHeadersOf(language), 'cache-control': 'no-store', vary });
      return views.renderError(status, { ...pages, language });
    },
  },
});

// `/s/:id/report`: the form that reports a page (docs/specification/media.md#reports). It needs neither an account nor a script.

const maxFormBytes = 32 * 1024;
const statuses = { form: 200, missing: 400, tooMany: 429, done: 200 } as const;
type State = keyof typeof statuses;

type Find = (id: string) => Read | Promise<Read>;

function addReportForm(app: HttpServer, { media, trustedProxies, ...pages }: SharePages, find: Find): void {
  const readAddress = clientAddressReader(trustedProxies);

  async function show(request: FastifyRequest, reply: FastifyReply, id: string, state: State) {
    // A report is possible without it.
    const { view } = await Promise.resolve(find(id)).catch(() => ({ view: undefined }));
    const language = negotiateLanguage(request.headers['accept-language']);
    return reply
      .code(statuses[state])
      .headers({
        ...pageHeadersOf(language),
        'cache-control': 'no-store',
        'x-robots-tag': 'noindex',
        vary: 'Accept-Language',
      })
      .type(page)
      .send(renderForm({ ...pages, language }, id, view, state));
  }

  routesOf(app, 'edge').get('/s/:id/report', withErrorPage(pages), {
    id: 'readReportForm',
    summary: 'Show the form that reports a share',
    description: 'Returns a form. It works without an account and without JavaScript.',
    otherResponses: { 200: ['The form.', 'text/html'] },
    client: { kind: 'page' },
    params: shareParams,
    handler: async (request, reply) => show(request, reply, request.params.id, 'form'),
  });

  app.register(async (forms: HttpServer) => {
    forms.removeAllContentTypeParsers();
    forms.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { bodyLimit: maxFormBytes, parseAs: 'string' },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    routesOf(forms, 'edge').post('/s/:id/report', withErrorPage(pages), {
      id: 'sendReportForm',
      summary: 'Report a share by its form',
      description:
        'Sends a report as the form does: `reason`, `note` and `contact`, as `application/x-www-form-urlencoded`.',
      problems: ['not_found', 'rate_limited', 'unsupported_media_type', 'payload_too_large'],
      otherResponses: { 200: ['The report was received.', 'text/html'] },
      client: { kind: 'page' },
      params: shareParams,
      handler: async (request, reply) => {
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
    });
  });
}

/** Browsers limit the fields to these lengths. */
const storable = (text = '', max: number) =>
  text.replaceAll('\0', '').toWellFormed().trim().slice(0, max).toWellFormed();

function renderForm(context: views.PageContext, id: string, view: Read['view'], state: State): string {
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
  return views.layout(context, {
    head: html`<title>${texts.report} · ${context.brand}</title>
<meta name="robots" content="noindex">`,
    body: html`<h1>${texts.report}</h1>
${view === undefined || state === 'done' ? '' : views.renderSubject(view)}
${message}
${state === 'form' || state === 'missing' ? form : ''}
<p><a href="${url}">${texts.back}</a></p>`,
  });
}
