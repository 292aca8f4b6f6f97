import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpServer } from '#platform/http/server.ts';
import { negotiateLanguage } from '#platform/language.ts';
import { announcementFeature } from './announcement.ts';
import { announcement, feedSitemap, homeCards, type Listed, trending, userSitemap } from './api.ts';
import { homeCardsFeature } from './homecards.ts';
import { addMailWebhook, type MailWebhookDeps } from './mailwebhook.ts';
import { createProxy, type Feature, type ProxyDeps } from './proxy.ts';
import { readListed, renderSitemap, wantsXml } from './sitemap.ts';
import { trendingFeature } from './trending.ts';
import { addUnsubscribing, type UnsubscribingDeps } from './unsubscribing.ts';

type ListRows = (limit: number) => Promise<readonly { readonly id: string; readonly updatedAt: Date }[]>;

export interface RouteDeps extends ProxyDeps, UnsubscribingDeps, MailWebhookDeps {
  /** By age, the oldest first. */
  readonly listUsers: ListRows;
  /** Of those, what the public may see. */
  readonly listFeeds: ListRows;
  readonly pages: { readonly userUrl: string; readonly feedUrl: string };
}

export function addRoutes(app: HttpServer, deps: RouteDeps): void {
  const tags = ['content'];

  app.get(
    '/sitemap/users',
    { schema: { tags, summary: 'The ids of users, for a sitemap', response: { 200: userSitemap } } },
    async (request, reply) => {
      const users = await readListed(deps.listUsers);
      return sendSitemap(request, reply, users, { json: { users }, page: deps.pages.userUrl });
    },
  );

  app.get(
    '/sitemap/feeds',
    { schema: { tags, summary: 'The ids of public feeds, for a sitemap', response: { 200: feedSitemap } } },
    async (request, reply) => {
      const feeds = await readListed(deps.listFeeds);
      return sendSitemap(request, reply, feeds, { json: { feeds }, page: deps.pages.feedUrl });
    },
  );

  app.get(
    '/op/announcement',
    { schema: { tags, summary: 'The announcement of the site', response: { 200: announcement } } },
    showContent(deps, announcementFeature),
  );

  app.get(
    '/op/homecards/v2',
    { schema: { tags, summary: 'The cards of the front page', response: { 200: homeCards } } },
    showContent(deps, homeCardsFeature),
  );

  app.get(
    '/op/trending',
    { schema: { tags, summary: 'What is trending', response: { 200: trending } } },
    showContent(deps, trendingFeature),
  );

  addUnsubscribing(app, deps);
  addMailWebhook(app, deps);
}

const headersOfFresh = {
  'content-type': 'application/json; charset=utf-8',
  vary: 'Accept-Language',
  'cache-control': 'public, no-cache',
};
/** What a broken CMS left empty must not be kept by anybody. */
const headersOfEmpty = { ...headersOfFresh, 'cache-control': 'no-store' };

function showContent<Body, Shown>(deps: ProxyDeps, feature: Feature<Body, Shown>) {
  const read = createProxy(deps, feature);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const shown = read(negotiateLanguage(request.headers['accept-language']));
    const { bytes, isFresh } = shown instanceof Promise ? await shown : shown;
    return reply.headers(isFresh ? headersOfFresh : headersOfEmpty).send(bytes);
  };
}

function sendSitemap(
  request: FastifyRequest,
  reply: FastifyReply,
  listed: readonly Listed[],
  { json, page }: { readonly json: object; readonly page: string },
) {
  reply.header('vary', 'Accept');
  if (!wantsXml(request.headers.accept)) return reply.send(json);
  return reply.type('application/xml; charset=utf-8').send(renderSitemap(listed, page));
}
