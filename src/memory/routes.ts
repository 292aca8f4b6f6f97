import type { Access } from '#platform/access/access.ts';
import type { Caller } from '#platform/access/caller.ts';
import { createGates } from '#platform/concurrency.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { invalid, problems } from '#platform/problem.ts';
import * as api from './api.ts';
import { addMemory } from './changes/adding.ts';
import { editMemory, lookUpMemory, removeMemory } from './changes/editing.ts';
import type { MemoryContext } from './context.ts';
import { toMemory } from './memories/presenting.ts';
import { inject, searchMemories } from './search/searching.ts';
import type { EntityQuery } from './selfservice/api.ts';

const user = { entity_id: '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21', entity_type: 'user' };
const content = 'Prefers watercolor over oil.';
const adding = ['memory_full', 'memory_paused', 'embedder_unavailable'] as const;
const editing = ['not_found', 'duplicate_memory', 'memory_full', 'embedder_unavailable'] as const;
const gone = { 204: ['The memory was deleted.'] } as const;

/** Searches of one user, which take processor time. More than eight wait for each other. */
const searchLimits = { width: 8, maxWaiting: 100, waitTimeoutMs: 30_000 };

export function addRoutes(app: HttpServer, access: Access, deps: MemoryContext): void {
  const routes = routesOf(app, 'memory');
  const searches = createGates(searchLimits);
  const inTurn = <Result>(caller: Caller, search: () => Promise<Result>): Promise<Result> =>
    caller.kind === 'user' ? searches.run(caller.userId, search) : search();

  routes.post('/inject', access.userOrInternal, {
    id: 'inject',
    summary: 'Read the context for a message: profiles and relevant memories',
    description:
      'Returns the profile, the profile of the group, and the memories that fit the query. Call it before each turn of a conversation. It returns nothing about a paused entity.',
    problems: ['forbidden'],
    example: { ...user, query: 'Draw me a harbor.' },
    client: { repeatable: true },
    body: api.injectRequest,
    response: { 200: api.injection },
    handler: async (request) => {
      assertMayUse(request.caller, request.body);
      return inTurn(request.caller, () => inject(deps, request.body));
    },
  });

  routes.post('/memory/add', access.userOrInternal, {
    id: 'addMemory',
    summary: 'Add a memory',
    description:
      'Stores a memory (201). If an existing memory is a near-duplicate, the two are merged (200), and `id` names the one that remains.',
    problems: ['forbidden', ...adding],
    example: { ...user, content, type: 'preference' },
    body: api.additionRequest,
    response: { 200: api.addition.describe('The memory was merged into an existing one.'), 201: api.addition },
    handler: async (request, reply) => {
      assertMayUse(request.caller, request.body);
      const { memory: added, deduplicated } = await addMemory(deps, actorOf(request.caller), request.body);
      return reply.code(deduplicated ? 200 : 201).send({ id: added.id, deduplicated });
    },
  });

  routes.post('/memory/search', access.userOrInternal, {
    id: 'searchMemories',
    summary: 'Search the memories of an entity',
    description:
      'Returns the memories that are most similar to the query, best first. While the entity is paused, only its user finds some.',
    problems: ['forbidden'],
    example: { ...user, query: 'painting style', limit: 5 },
    client: { repeatable: true },
    body: api.searchRequest,
    response: { 200: api.searchResult },
    handler: async (request) => {
      assertMayUse(request.caller, request.body);
      const isOwn = actorOf(request.caller) === 'user';
      return inTurn(request.caller, () => searchMemories(deps, request.body, { isOwn }));
    },
  });

  routes.put('/memory/:id', access.userOrInternal, {
    id: 'editMemory',
    summary: 'Edit a memory',
    description: 'Changes the content, the type or the metadata. The former content stays in the history.',
    problems: ['forbidden', ...editing],
    example: { content: 'Prefers gouache over oil.' },
    params: api.memoryPath,
    body: api.memoryEdit,
    response: { 200: api.memory },
    handler: async (request) => {
      const seen = await lookUpMemory(deps, request.params.id);
      assertMayUse(request.caller, api.fieldsOf(seen));
      return toMemory(await editMemory(deps, actorOf(request.caller), seen, request.body));
    },
  });

  routes.delete('/memory/:id', access.userOrInternal, {
    id: 'deleteMemory',
    summary: 'Delete a memory',
    description: 'Deletes a memory with its history and links.',
    problems: ['forbidden', 'not_found'],
    otherResponses: gone,
    params: api.memoryPath,
    handler: async (request) => {
      const seen = await lookUpMemory(deps, request.params.id);
      assertMayUse(request.caller, api.fieldsOf(seen));
      await removeMemory(deps, seen);
    },
  });
}

/** The history names the server for what it writes on behalf of a user. */
const actorOf = (caller: Caller): api.Actor => (caller.kind === 'user' && !caller.isOnBehalf ? 'user' : 'server');

// The memories that a caller may use (docs/specification/memory.md#memory-endpoints).

/** Servers may use all memories. Users may use their own, and those of no group. Throws 403. */
export function assertMayUse(
  caller: Caller,
  entity: api.EntityFields & { readonly group_id?: string | undefined },
): void {
  if (caller.kind === 'internal') return;
  const isOwn = entity.entity_type === 'user' && entity.entity_id === caller.userId && entity.group_id === undefined;
  if (!isOwn) throw problems.forbidden();
}

/** Throws 400 if a server names no entity, and 403 if a user names another one. */
export function entityOf(
  caller: Caller,
  named: EntityQuery,
  place: 'querystring' | 'body' = 'querystring',
): api.Entity {
  const own = caller.kind === 'user' ? ({ entity_type: 'user', entity_id: caller.userId } as const) : undefined;
  const { entity_type = own?.entity_type, entity_id = own?.entity_id } = named;
  if (entity_id === undefined) throw invalid(`${place}.entity_id`, 'is required with X-Internal-Key');
  if (entity_type === undefined) throw invalid(`${place}.entity_type`, 'is required with X-Internal-Key');
  assertMayUse(caller, { entity_type, entity_id });
  return api.toEntity({ entity_type, entity_id });
}
