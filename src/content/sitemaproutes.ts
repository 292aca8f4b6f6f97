/** The routes of sitemaps (docs/specification/content.md#sitemaps): JSON, or XML for search engines. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { escapeXml } from '#platform/escaping.ts';
import { routesOf, unguarded } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { etagOf, sendValidated } from '#platform/http/validators.ts';
import { isUuid } from '#platform/ids.ts';
import { problems } from '#platform/problem.ts';
import { feedSitemap, type Listed, userSitemap } from './api.ts';
import type { ContentContext, SitemapSource } from './context.ts';
import { contentProblems } from './problems.ts';

const xml = { 200: ['A sitemap.', 'application/xml'], 304: ['The sitemap matches `If-None-Match`.'] } as const;
const unchanged = { 304: ['The content matches `If-None-Match`.'] } as const;

export const shareSitemapPage = z.object({
  after: z.string().max(64).optional().describe('The last id of the previous page.'),
});

const xmlType = 'application/xml; charset=utf-8';
const hostHeaders = 'Host, X-Forwarded-Host, X-Forwarded-Proto';
const jsonType = 'application/json; charset=utf-8';
export const sitemapPage = z.object({
  after: z.string().refine(isUuid, 'must be a UUID').optional().describe('The last id of the previous page.'),
});

export function addSitemapRoutes(app: HttpServer, deps: ContentContext): void {
  const routes = routesOf(app, 'content');
  const { users, feeds, shares, pages } = deps;

  routes.get('/sitemap/users', unguarded, {
    id: 'listUsers',
    summary: 'List users for a sitemap',
    description: 'Returns up to 10,000 users. With `Accept: application/xml`, the response is a sitemap.',
    problems: ['sitemap_unavailable'],
    otherResponses: unchanged,
    response: { 200: userSitemap },
    handler: async (request, reply) => {
      const listed = await readListed(users);
      return sendList(request, reply, listed, { json: { users: listed }, page: pages.userUrl });
    },
  });

  routes.get('/sitemap/feeds', unguarded, {
    id: 'listFeeds',
    summary: 'List public feeds for a sitemap',
    description: 'Returns up to 10,000 public feeds. With `Accept: application/xml`, the response is a sitemap.',
    problems: ['sitemap_unavailable'],
    otherResponses: unchanged,
    response: { 200: feedSitemap },
    handler: async (request, reply) => {
      const listed = await readListed(feeds);
      return sendList(request, reply, listed, { json: { feeds: listed }, page: pages.feedUrl });
    },
  });

  routes.get('/sitemap/users.xml', unguarded, {
    id: 'readUserSitemap',
    summary: 'Read a page of the sitemap of users',
    description: 'Returns a sitemap of up to 10,000 users. The sitemap index links to all pages.',
    problems: ['not_found', 'sitemap_unavailable'],
    otherResponses: xml,
    client: { kind: 'page' },
    querystring: sitemapPage,
    handler: async (request, reply) =>
      sendXml(request, reply, await readPage(users, request.query.after, pages.userUrl)),
  });

  routes.get('/sitemap/feeds.xml', unguarded, {
    id: 'readFeedSitemap',
    summary: 'Read a page of the sitemap of feeds',
    description: 'Returns a sitemap of up to 10,000 public feeds. The sitemap index links to all pages.',
    problems: ['not_found', 'sitemap_unavailable'],
    otherResponses: xml,
    client: { kind: 'page' },
    querystring: sitemapPage,
    handler: async (request, reply) =>
      sendXml(request, reply, await readPage(feeds, request.query.after, pages.feedUrl)),
  });

  if (shares)
    routes.get('/sitemap/shares.xml', unguarded, {
      id: 'readShareSitemap',
      summary: 'Read a page of the sitemap of shares',
      description:
        'Returns a sitemap of up to 10,000 shares that search engines may find. Present with `SITEMAP_GALLERY`.',
      problems: ['not_found', 'sitemap_unavailable'],
      otherResponses: xml,
      client: { kind: 'page' },
      querystring: shareSitemapPage,
      handler: async (request, reply) => {
        const body = await readPage(shares, request.query.after, `${deps.edgeUrl}/s/{id}`);
        return sendXml(request, reply, body, { cacheControl: 'public, max-age=30' });
      },
    });

  routes.get('/sitemap.xml', unguarded, {
    id: 'readSitemapIndex',
    summary: 'Read the sitemap index',
    description: 'Returns the index of all pages of the sitemaps, for search engines.',
    problems: ['sitemap_unavailable'],
    otherResponses: xml,
    client: { kind: 'page' },
    handler: async (request, reply) => {
      const base = deps.publicUrl ?? `${request.protocol}://${request.host}`;
      const urls = [
        ...(await readPageUrls(users, `${base}/sitemap/users.xml`)),
        ...(await readPageUrls(feeds, `${base}/sitemap/feeds.xml`)),
        ...(shares ? await readPageUrls(shares, `${base}/sitemap/shares.xml`) : []),
      ];
      // The URLs repeat the host, so a cache must not return them to callers of another one.
      return sendXml(
        request,
        reply,
        renderSitemapIndex(urls),
        deps.publicUrl === undefined ? { vary: hostHeaders } : {},
      );
    },
  });
}

async function readPageUrls({ listPageEnds }: SitemapSource, url: string): Promise<readonly string[]> {
  const ends = await read(() => listPageEnds(maxListed));
  return [url, ...ends.map((id) => `${url}?after=${encodeURIComponent(id)}`)];
}

/** Throws 404 for a page without rows, except for the first one. */
async function readPage(source: SitemapSource, after: string | undefined, page: string): Promise<string> {
  const listed = await readListed(source, after);
  if (after !== undefined && listed.length === 0)
    throw problems.not_found({ message: `There is no page after ${after}: see /sitemap.xml.` });
  return renderSitemap(listed, page);
}

function sendList(
  request: FastifyRequest,
  reply: FastifyReply,
  listed: readonly Listed[],
  { json, page }: { readonly json: object; readonly page: string },
) {
  const isXml = wantsXml(request.headers.accept);
  const body = isXml ? renderSitemap(listed, page) : JSON.stringify(json);
  return sendValidated(request, reply, { body, etag: etagOf(body), type: isXml ? xmlType : jsonType, vary: 'Accept' });
}

function sendXml(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string,
  more: { readonly vary?: string; readonly cacheControl?: string } = {},
) {
  return sendValidated(request, reply, { body, etag: etagOf(body), type: xmlType, ...more });
}

// `GET /sitemap/users`, `GET /sitemap/feeds` (docs/specification/content.md#sitemaps): JSON, or XML for search engines.

/** The limit of both lists (docs/specification/content.md#sitemaps). */
const maxListed = 10_000;

/** `after`: the last id of the previous page. */
async function readListed({ list }: SitemapSource, after?: string): Promise<Listed[]> {
  const rows = await read(() => list({ limit: maxListed, after }));
  return rows.map(({ id, updatedAt }) => ({ id, updated_at: updatedAt.toISOString() }));
}

/** Every failure to read the rows is a 500 here, and not the 503 of other endpoints (docs/specification/content.md#sitemaps). */
async function read<T>(rows: () => Promise<T>): Promise<T> {
  try {
    return await rows();
  } catch (cause) {
    throw contentProblems.sitemap_unavailable({ cause });
  }
}

/** `sitemapindex` of the sitemap protocol. */
function renderSitemapIndex(urls: readonly string[]): string {
  const sitemaps = urls.map((url) => `<sitemap><loc>${escapeXml(url)}</loc></sitemap>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${sitemaps.join('')}</sitemapindex>\n`;
}

/** `urlset` of the sitemap protocol. `page` is a URL that contains `{id}`. */
export function renderSitemap(listed: readonly Listed[], page: string): string {
  const urls = listed.map(({ id, updated_at }) => {
    const location = page.replaceAll('{id}', () => encodeURIComponent(id));
    return `<url><loc>${escapeXml(location)}</loc><lastmod>${updated_at}</lastmod></url>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('')}</urlset>\n`;
}

/** Returns JSON unless the header names XML with at least the same quality. Wildcards are ignored. */
export function wantsXml(accept: string | undefined): boolean {
  const weights = new Map(
    (accept ?? '')
      .toLowerCase()
      .split(',')
      .map((range) => {
        const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
        const weight = parameters.find((parameter) => parameter.startsWith('q='));
        return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0];
      }),
  );
  const xml = Math.max(weights.get('application/xml') ?? 0, weights.get('text/xml') ?? 0);
  return xml > 0 && xml >= (weights.get('application/json') ?? 0);
}
