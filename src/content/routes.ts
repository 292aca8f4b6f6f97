import type { FastifyReply, FastifyRequest } from 'fastify';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { sendValidated } from '#platform/http/validators.ts';
import { negotiateLanguage } from '#platform/language.ts';
import { announcementFeature } from './announcement.ts';
import { announcement, homeCards, trending } from './api.ts';
import { homeCardsFeature } from './homecards.ts';
import { addMailWebhook, type MailWebhookDeps } from './mailwebhook.ts';
import { createProxy, type Feature, type ProxyDeps } from './proxy.ts';
import { addSitemapRoutes, type SitemapDeps } from './sitemaproutes.ts';
import { trendingFeature } from './trending.ts';
import { addUnsubscribing, type UnsubscribingDeps } from './unsubscribing.ts';

const localized = 'The texts are in the language of `Accept-Language`. If the CMS fails, the result is empty.';
const unchanged = { 304: ['The content matches `If-None-Match`.'] } as const;

export interface RouteDeps extends ProxyDeps, UnsubscribingDeps, MailWebhookDeps, SitemapDeps {}

export function addRoutes(app: HttpServer, deps: RouteDeps): void {
  const routes = routesOf(app, 'content');

  addSitemapRoutes(app, deps);

  routes.get(
    '/op/announcement',
    {},
    {
      id: 'readAnnouncement',
      summary: 'Read the announcement of the site',
      description: `Returns the announcement of the site. ${localized}`,
      otherResponses: unchanged,
      client: { answer: 'Announcement' },
      response: { 200: announcement },
    },
    showContent(deps, announcementFeature),
  );

  routes.get(
    '/op/homecards/v2',
    {},
    {
      id: 'readHomeCards',
      summary: 'List the cards of the home page',
      description: `Returns the cards of the home page. ${localized}`,
      otherResponses: unchanged,
      client: { answer: 'HomeCards' },
      response: { 200: homeCards },
    },
    showContent(deps, homeCardsFeature),
  );

  routes.get(
    '/op/trending',
    {},
    {
      id: 'readTrending',
      summary: 'List trending items',
      description: `Returns trending items. ${localized}`,
      otherResponses: unchanged,
      client: { answer: 'Trending' },
      response: { 200: trending },
    },
    showContent(deps, trendingFeature),
  );

  addUnsubscribing(app, deps);
  addMailWebhook(app, deps);
}

const type = 'application/json; charset=utf-8';
const vary = 'Accept-Language';
/** Caches must not store the empty response of a failed CMS. */
const headersOfEmpty = { 'content-type': type, vary, 'cache-control': 'no-store' };

function showContent<Body, Shown>(deps: ProxyDeps, feature: Feature<Body, Shown>) {
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
