import type { Access } from '#platform/access/access.ts';
import type { Caller } from '#platform/access/caller.ts';
import { createGates } from '#platform/concurrency/gates.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import {
  type Actor,
  addition,
  additionRequest,
  edit,
  injection,
  injectRequest,
  memory,
  memoryPath,
  searchRequest,
  searchResult,
} from './api.ts';
import { type AddingDeps, addMemory } from './changes/adding.ts';
import { editMemory, lookUpMemory, removeMemory } from './changes/editing.ts';
import type { StoredMemory } from './memories/memorystore.ts';
import { toMemory } from './memories/presenting.ts';
import { assertMayUse } from './ownership.ts';
import { inject, type SearchingDeps, searchMemories } from './search/searching.ts';

export type RouteDeps = AddingDeps & SearchingDeps;

/** Searches of one user, which take processor time. More than eight wait for each other. */
const searchLimits = { width: 8, maxWaiting: 100, waitTimeoutMs: 30_000 };

export function addRoutes(app: HttpServer, access: Access, deps: RouteDeps): void {
  const routes = routesOf(app, 'memory');
  const searches = createGates(searchLimits);
  const inTurn = <Result>(caller: Caller, search: () => Promise<Result>): Promise<Result> =>
    caller.kind === 'user' ? searches.run(caller.userId, search) : search();

  routes.post(
    '/inject',
    access.userOrInternal,
    {
      summary: 'Read the context for a message: profiles and relevant memories',
      body: injectRequest,
      response: { 200: injection },
    },
    async (request) => {
      assertMayUse(request.caller, request.body);
      return inTurn(request.caller, () => inject(deps, request.body));
    },
  );

  routes.post(
    '/memory/add',
    access.userOrInternal,
    {
      summary: 'Add a memory',
      body: additionRequest,
      response: { 200: addition.describe('The memory was merged into an existing one.'), 201: addition },
    },
    async (request, reply) => {
      assertMayUse(request.caller, request.body);
      const { memory: added, deduplicated } = await addMemory(deps, actorOf(request.caller), request.body);
      return reply.code(deduplicated ? 200 : 201).send({ id: added.id, deduplicated });
    },
  );

  routes.post(
    '/memory/search',
    access.userOrInternal,
    { summary: 'Search the memories of an entity', body: searchRequest, response: { 200: searchResult } },
    async (request) => {
      assertMayUse(request.caller, request.body);
      return inTurn(request.caller, () => searchMemories(deps, request.body));
    },
  );

  routes.put(
    '/memory/:id',
    access.userOrInternal,
    { summary: 'Edit a memory', params: memoryPath, body: edit, response: { 200: memory } },
    async (request) => {
      const seen = await lookUpMemory(deps, request.params.id);
      assertMayUse(request.caller, ownerOf(seen));
      return toMemory(await editMemory(deps, actorOf(request.caller), seen, request.body));
    },
  );

  routes.delete(
    '/memory/:id',
    access.userOrInternal,
    { summary: 'Delete a memory', params: memoryPath },
    async (request, reply) => {
      const seen = await lookUpMemory(deps, request.params.id);
      assertMayUse(request.caller, ownerOf(seen));
      await removeMemory(deps, seen);
      return reply.code(204).send();
    },
  );
}

/** The history names the server for what it writes on behalf of a user. */
const actorOf = (caller: Caller): Actor => (caller.kind === 'user' && !caller.isOnBehalf ? 'user' : 'server');

const ownerOf = ({ entityType, entityId }: StoredMemory) => ({ entity_type: entityType, entity_id: entityId });
