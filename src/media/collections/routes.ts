import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import type { Caller } from '#platform/access/caller.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { ownerFor } from '../assets/ownership.ts';
import type { MediaContext } from '../context.ts';
import * as api from './api.ts';
import * as collections from './collections.ts';

const assetId = '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11';

export function addCollectionRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  const routes = routesOf(app, 'collections');
  const ownerIn = (caller: Caller, ownerId: string | undefined) => ownerFor(caller, ownerId, 'querystring.ownerId');

  routes.post('/v1/favorites', access.userOrInternal, {
    id: 'changeFavorites',
    summary: 'Add assets to the favorites, or remove them',
    description: 'Marks up to 1000 assets of the owner as favorites, or unmarks them. You can repeat the request.',
    problems: ['forbidden', 'not_found'],
    example: { ids: [assetId], favorite: true },
    client: { repeatable: true },
    body: api.favoritesChange,
    response: { 200: api.favoritesChanged },
    handler: async ({ caller, body }) => collections.changeFavorites(deps, caller, body),
  });

  routes.post('/v1/collections', access.userOrInternal, {
    id: 'createCollection',
    summary: 'Create a collection',
    description: 'Creates a named collection of assets of the owner. An asset can be in any number of collections.',
    problems: ['forbidden', 'not_found', 'too_many_collections'],
    example: { title: 'Lighthouses', assetIds: [assetId] },
    body: api.collectionRequest,
    response: { 201: api.collection },
    handler: async ({ caller, body }, reply) =>
      reply.code(201).send(await collections.createCollection(deps, caller, body)),
  });

  routes.get('/v1/collections', access.userOrInternal, {
    id: 'listCollections',
    summary: 'List the collections of an owner',
    description: 'Returns all collections of the owner, the last changed first. `GET /v1/assets` lists their assets.',
    problems: ['forbidden'],
    querystring: api.collectionListing,
    response: { 200: api.collections },
    handler: async ({ caller, query }) => collections.readCollections(deps, caller, query),
  });

  routes.get('/v1/collections/:collectionId', access.userOrInternal, {
    id: 'readCollection',
    summary: 'Read a collection',
    description: 'Returns a collection of the owner.',
    problems: ['forbidden', 'not_found'],
    params: api.collectionParams,
    querystring: api.collectionOwner,
    response: { 200: api.collection },
    handler: async ({ caller, params, query }) =>
      collections.readCollection(deps, ownerIn(caller, query.ownerId), params.collectionId),
  });

  routes.patch('/v1/collections/:collectionId', access.userOrInternal, {
    id: 'changeCollection',
    summary: 'Rename a collection, or add and remove assets',
    description: 'Changes the title of a collection, adds assets and removes others, in one step.',
    problems: ['forbidden', 'not_found', 'collection_full'],
    example: { add: [assetId] },
    client: { repeatable: true },
    params: api.collectionParams,
    body: api.collectionChange,
    response: { 200: api.collection },
    handler: async ({ caller, params, body }) => collections.changeCollection(deps, caller, params.collectionId, body),
  });

  routes.delete('/v1/collections/:collectionId', access.userOrInternal, {
    id: 'deleteCollection',
    summary: 'Delete a collection',
    description: 'Deletes a collection. Its assets stay in the library.',
    problems: ['forbidden', 'not_found'],
    params: api.collectionParams,
    querystring: api.collectionOwner,
    response: { 204: z.null() },
    handler: async ({ caller, params, query }) =>
      collections.deleteCollection(deps, ownerIn(caller, query.ownerId), params.collectionId),
  });
}
