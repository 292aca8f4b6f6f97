import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { HttpClient } from '#platform/http/client.ts';
import { routesOf, unguarded } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { sendValidated } from '#platform/http/validators.ts';
import { parseJson } from '#platform/json.ts';
import { negotiateLanguage } from '#platform/language.ts';
import { invalid, problems } from '#platform/problem.ts';
import { toStorableLine } from '#platform/storable.ts';
import { announcement, homeCards, trending } from './api.ts';
import { announcementFeature, trendingFeature } from './cms.ts';
import type { ContentContext } from './context.ts';
import { homeCardsFeature } from './homecards.ts';
import { contentProblems } from './problems.ts';
import { createProxy, type Feature } from './proxy.ts';
import { addSitemapRoutes } from './sitemaproutes.ts';
import { addUnsubscribing } from './unsubscribing.ts';
import { isSigned } from './webhooksignature.ts';

const localized = 'The texts are in the language of `Accept-Language`. If the CMS fails, the result is empty.';
const unchanged = { 304: ['The content matches `If-None-Match`.'] } as const;

export function addRoutes(app: HttpServer, deps: ContentContext): void {
  const routes = routesOf(app, 'content');

  addSitemapRoutes(app, deps);

  routes.get('/op/announcement', unguarded, {
    id: 'readAnnouncement',
    summary: 'Read the announcement of the site',
    description: `Returns the announcement of the site. ${localized}`,
    otherResponses: unchanged,
    response: { 200: announcement },
    handler: showContent(deps, announcementFeature),
  });

  routes.get('/op/homecards/v2', unguarded, {
    id: 'readHomeCards',
    summary: 'List the cards of the home page',
    description: `Returns the cards of the home page. ${localized}`,
    otherResponses: unchanged,
    response: { 200: homeCards },
    handler: showContent(deps, homeCardsFeature),
  });

  routes.get('/op/trending', unguarded, {
    id: 'readTrending',
    summary: 'List trending items',
    description: `Returns trending items. ${localized}`,
    otherResponses: unchanged,
    response: { 200: trending },
    handler: showContent(deps, trendingFeature),
  });

  addUnsubscribing(app, deps.accounts, deps.unsubscribeSecret);
  addMailWebhook(app, deps);
}

const type = 'application/json; charset=utf-8';
const vary = 'Accept-Language';
/** Caches must not store the empty response of a failed CMS. */
const headersOfEmpty = { 'content-type': type, vary, 'cache-control': 'no-store' };

function showContent<Body, Shown>(deps: ContentContext, feature: Feature<Body, Shown>) {
  const read = createProxy(deps, feature);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const language = negotiateLanguage(request.headers['accept-language']);
    const shown = read(language);
    const { json, etag, isFresh } = shown instanceof Promise ? await shown : shown;
    reply.header('content-language', language.replace('_', '-'));
    if (!isFresh) return reply.headers(headersOfEmpty).send(json);
    return sendValidated(request, reply, { body: json, etag, type, vary });
  };
}

// `POST /webhooks/resend`: verifies the mail provider's events and forwards them to notify, which has no public endpoint.

const maxBodyBytes = 256 * 1024;
const maxReasonLength = 2000;
/** Of an email or a recipient. */
const maxIdLength = 512;
const maxNameLength = 64;
const maxRecipients = 50;

const addresses = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const message = z.object({
  type: z.string().max(maxNameLength),
  data: z
    .object({
      email_id: z.string().max(maxIdLength).nullish(),
      to: addresses.nullish(),
      bounce: z.object({ type: z.string().max(maxNameLength).nullish(), message: z.string().nullish() }).nullish(),
      failed: z.object({ reason: z.string().nullish() }).nullish(),
    })
    .nullish(),
});

function addMailWebhook(app: HttpServer, deps: ContentContext): void {
  app.register(async (webhooks) => {
    // The signature covers the exact bytes.
    webhooks.removeAllContentTypeParsers();
    webhooks.addContentTypeParser('*', { bodyLimit: maxBodyBytes, parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    webhooks.post(
      '/webhooks/resend',
      {
        schema: {
          id: 'receiveMailEvent',
          summary: 'Receive an event of the mail provider',
          description: 'Receives events of the mail provider. The headers must have a valid signature by Svix.',
          problems: ['invalid_signature', 'payload_too_large'],
          client: { repeatable: true },
          tags: ['content'],
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const id = headerOf(request, 'svix-id');
        const signed = {
          id,
          timestamp: headerOf(request, 'svix-timestamp'),
          signature: headerOf(request, 'svix-signature'),
        };
        if (deps.webhookSecret === undefined || !isSigned(deps.webhookSecret, { ...signed, body }))
          throw contentProblems.invalid_signature();
        await handOn(deps.notify, id, parse(body));
        return reply.code(204).send(null);
      },
    );
  });
}

const headerOf = ({ headers }: FastifyRequest, name: string) => String(headers[name] ?? '');

function parse(body: Buffer): z.output<typeof message> {
  const { data } = message.safeParse(parseJson(body));
  if (data === undefined) throw invalid('body', 'must be a message of the mail provider');
  return data;
}

/**
 * Without a successful response, the provider sends the event again, for days. Notify rejects values that a database cannot
 * store, so none is sent.
 */
async function handOn(notify: HttpClient, id: string, { type, data }: z.output<typeof message>): Promise<void> {
  // Other events are about domains and contacts.
  if (!data?.email_id) return;
  const { status } = await notify.send({
    method: 'POST',
    route: '/emails/events',
    json: {
      id: id.slice(0, 256),
      type: toStorableLine(type, maxNameLength),
      email_id: toStorableLine(data.email_id, maxIdLength),
      to: (data.to ?? []).slice(0, maxRecipients).map((text) => toStorableLine(text, maxIdLength)),
      bounce_type: toStorableLine(data.bounce?.type ?? '', maxNameLength),
      reason: toStorableLine(data.bounce?.message ?? data.failed?.reason ?? '', maxReasonLength),
    },
    // Notify processes an event once.
    idempotent: true,
  });
  if (status !== 204) throw problems.engine_unavailable({ cause: new Error(`notify returned ${status}`) });
}
