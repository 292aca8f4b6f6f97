/** The endpoints of shares and of the gallery (docs/specification/media.md#shares). */
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { MediaContext } from '../context.ts';
import * as api from './api.ts';
import { endShare, readGallery, readIndexedShares, readShareData, readShares, shareIt } from './shares.ts';
import { dropSharesOfThread } from './sharestore.ts';

export function addShareRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  const routes = routesOf(app, 'shares');

  routes.post('/v1/shares', access.userOrInternal, {
    id: 'createShare',
    summary: 'Share an asset, a conversation or a collection by a public page',
    description:
      'Returns the URL of a page that anyone can read. A conversation or a collection is shared as it is now. If it is shared already, the response is 200 with the same share, and its options change to the ones in the request. With `update: true`, it shows the conversation or collection as it is now.',
    problems: ['forbidden', 'not_found', 'payload_too_large'],
    example: { assetId: '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11', expiresIn: 604_800, showPrompt: true },
    client: { repeatable: true },
    body: api.shareRequest,
    response: { 200: api.share.describe('It was shared already.'), 201: api.share },
    handler: async ({ caller, body }, reply) => {
      const { share: made, isNew } = await shareIt(deps, caller, body);
      return reply.code(isNew ? 201 : 200).send(made);
    },
  });

  routes.get('/v1/shares', access.userOrInternal, {
    id: 'listShares',
    summary: 'List the shares of an owner, newest first',
    description: 'Returns a page of shares that have not ended. Filter it by asset, conversation or collection.',
    problems: ['forbidden'],
    querystring: api.shareListing,
    response: { 200: api.sharePage },
    handler: async ({ caller, query }) => readShares(deps, caller, query),
  });

  routes.delete('/v1/shares/:id', access.userOrInternal, {
    id: 'endShare',
    summary: 'End a share',
    description: 'Ends a share. Its page returns 404 within 5 seconds.',
    problems: ['not_found'],
    params: api.shareParams,
    response: { 204: z.null() },
    handler: async ({ caller, params }) => endShare(deps, caller, params.id),
  });

  routes.delete('/v1/shares', access.internalOnly, {
    id: 'endSharesOfThread',
    summary: 'End the share of a conversation',
    description: 'Ends the share of a conversation that is being deleted. The agent service calls it.',
    example: { ownerId: '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21', threadId: 'thread-1' },
    body: api.threadSharesDeletion,
    response: { 204: z.null() },
    handler: async ({ body }) => dropSharesOfThread(deps.db, body.ownerId, body.threadId),
  });

  routes.get('/v1/shares/:id/data', access.internalOnly, {
    id: 'readShareData',
    summary: 'Read what the page of a share shows',
    description: 'Returns what the page shows, with the keys of its objects. The edge calls it.',
    problems: ['not_found'],
    params: api.shareParams,
    response: { 200: api.shareData },
    handler: async ({ params }) => readShareData(deps, params.id),
  });

  routes.get('/v1/shares/indexed', access.internalOnly, {
    id: 'listIndexedShares',
    summary: 'List the shares that search engines may find',
    description: 'Returns shares with `index: true`, oldest first. The content service makes a sitemap of them.',
    querystring: api.indexedListing,
    response: { 200: api.indexedShares },
    handler: async ({ query }) => readIndexedShares(deps, query.after, query.limit),
  });

  routes.get('/v1/gallery', access.internalOnly, {
    id: 'readGallery',
    summary: 'List the images and videos of the feed',
    description: 'Returns a page of the public feed. The content service serves it to everyone.',
    querystring: api.galleryListing,
    response: { 200: api.galleryPage },
    handler: async ({ query }) => readGallery(deps, query),
  });
}
