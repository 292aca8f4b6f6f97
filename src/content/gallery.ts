/**
 * `GET /op/gallery` and the sitemap of shares (docs/specification/content.md#gallery), from the media service. A process reads each
 * page at most once a second, whatever the number of readers.
 */
import { LRUCache } from 'lru-cache';
import {
  type GalleryListing,
  type GalleryPage,
  galleryListing,
  galleryPage,
  indexedShares,
} from '#media/shares/api.ts';
import type { Clock } from '#platform/clock.ts';
import type { HttpClient } from '#platform/http/client.ts';
import { routesOf, unguarded } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { etagOf, sendValidated } from '#platform/http/validators.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { SitemapSource } from './context.ts';

export interface Gallery {
  /** Of the media service, with the internal key. */
  readonly media: HttpClient;
  /** Monotonic. */
  readonly clock: Clock;
}

/** What was removed is gone within a minute, also from caches. */
const cacheControl = 'public, max-age=30';
const reusableMs = 1000;
const mostPages = 500;

export function addGalleryRoutes(app: HttpServer, { media, clock }: Gallery): void {
  const routes = routesOf(app, 'content');
  const known = new LRUCache<string, { readonly page: ReturnType<typeof load>; readonly until: number }>({
    max: mostPages,
  });

  async function load(query: GalleryListing) {
    const { status, json } = await media.send({ method: 'GET', route: '/v1/gallery', query: { ...query } });
    if (status === 400) throw invalid('querystring.cursor', 'must be a next_cursor');
    if (status !== 200) throw problems.engine_unavailable({ cause: new Error(`the media service returned ${status}`) });
    const page: GalleryPage = galleryPage.parse(json());
    const body = JSON.stringify(page);
    return { body, etag: etagOf(body) };
  }

  routes.get('/op/gallery', unguarded, {
    id: 'readPublicGallery',
    summary: 'List the images and videos that users have published',
    description:
      'Returns a page of the public feed. Pass `next_cursor` as `cursor` to read the next page. The URLs are valid for some minutes.',
    otherResponses: { 304: ['The content matches `If-None-Match`.'] },
    client: { query: 'PublicGalleryListing', answer: 'PublicGallery' },
    querystring: galleryListing,
    response: { 200: galleryPage },
    handler: async (request, reply) => {
      const { kind, shape, sort, limit, cursor, q } = request.query;
      const key = JSON.stringify([kind, shape, sort, limit, cursor, q]);
      let found = known.get(key);
      if (found === undefined || clock.now() >= found.until) {
        found = { page: load(request.query), until: clock.now() + reusableMs };
        known.set(key, found);
        found.page.catch(() => known.delete(key));
      }
      return sendValidated(request, reply, {
        ...(await found.page),
        type: 'application/json; charset=utf-8',
        cacheControl,
      });
    },
  });
}

/** The shares that search engines may find, from the media service. */
export function shareSource(media: HttpClient): SitemapSource {
  const list: SitemapSource['list'] = async ({ limit, after }) => {
    const { status, json } = await media.send({ method: 'GET', route: '/v1/shares/indexed', query: { after, limit } });
    if (status !== 200) throw new Error(`the media service returned ${status}`);
    return indexedShares.parse(json()).shares.map(({ id, updatedAt }) => ({ id, updatedAt: new Date(updatedAt) }));
  };
  return {
    list,
    listPageEnds: async (size) => {
      const ends: string[] = [];
      for (;;) {
        const page = await list({ limit: size, after: ends.at(-1) });
        const last = page.at(-1);
        if (last === undefined || page.length < size) return ends;
        ends.push(last.id);
      }
    },
  };
}
