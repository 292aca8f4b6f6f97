import type { FastifyRequest } from 'fastify';
import type { AdminGuard } from '#platform/access/access.ts';
import { hashedTarget, targetOn } from '#platform/audit/audit.ts';
import { auditOperators } from '#platform/audit/http.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { parseJson } from '#platform/json.ts';
import type { Log } from '#platform/log.ts';
import { additionRequest, type Entity, memoryPath, operatorEdit, toEntity } from '../api.ts';
import { addMemory } from '../changes/adding.ts';
import { editMemory, lookUpMemory, removeMemory } from '../changes/editing.ts';
import { eraseEntity } from '../changes/entitywrite.ts';
import { undoChange } from '../changes/undoing.ts';
import type { MemoryContext } from '../context.ts';
import * as api from './api.ts';
import * as viewing from './viewing.ts';

const user = { entity_id: '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21', entity_type: 'user' };
const content = 'Prefers watercolor over oil.';
const adding = ['memory_full', 'memory_paused', 'embedder_unavailable'] as const;
const editing = ['not_found', 'duplicate_memory', ...adding] as const;
const gone = { 204: ['The memory was deleted.'] } as const;
const erased = { 204: ['Nothing is stored about the entity any more.'] } as const;

export function addAdminRoutes(app: HttpServer, guard: AdminGuard, deps: MemoryContext): void {
  auditOperators(app, { db: deps.db, log: app.log as Log, isOperators, targetOf });
  addMemoryRoutes(app, guard, deps);
  addEntityRoutes(app, guard, deps);
}

/** Audits every change and every export of an entity. */
function isOperators(url: string, method: string): boolean {
  const isLook = (method === 'GET' || method === 'HEAD') && !url.endsWith('/export');
  return url.startsWith('/admin/') && !isLook;
}

/** A user has the same hash as in other services. A memory that was created has its id in the response. */
function targetOf(request: FastifyRequest, answer: unknown): string {
  const { id, entity_type: type, entity_id: entityId } = request.params as Readonly<Record<string, string | undefined>>;
  if (entityId !== undefined) return hashedTarget(type === 'user' ? entityId : `${type} ${entityId}`);
  const memoryId = id ?? memoryPath.safeParse(parseJson(String(answer))).data?.id;
  const what = memoryId === undefined ? 'memories' : `memory ${memoryId.slice(0, 64)}`;
  const { entityType, entityId: ownerId } = owners.get(request) ?? {};
  return ownerId === undefined ? what : targetOn(what, entityType === 'user' ? ownerId : `${entityType} ${ownerId}`);
}

/** Of the memory that a request changes or creates. After a deletion, it cannot be looked up. */
const owners = new WeakMap<FastifyRequest, Entity>();

function addMemoryRoutes(app: HttpServer, guard: AdminGuard, deps: MemoryContext): void {
  const routes = routesOf(app, 'admin');
  const lookUp = async (request: FastifyRequest & { readonly params: { readonly id: string } }) => {
    const memory = await lookUpMemory(deps, request.params.id);
    owners.set(request, memory);
    return memory;
  };
  routes.get('/admin/memories', guard, {
    id: 'adminListMemories',
    summary: 'List memories',
    description: 'Returns a page of memories of all entities, with filters.',
    querystring: api.memoryListing,
    response: { 200: api.memoryPage },
    handler: async (request) => viewing.pageOfMemories(deps, request.query),
  });

  routes.post('/admin/memories', guard, {
    id: 'adminAddMemory',
    summary: 'Create a memory',
    description: 'Stores a memory (201) or merges it into an existing one (200).',
    problems: adding,
    example: { ...user, content, type: 'preference' },
    body: additionRequest,
    response: { 200: api.adminMemory.describe('The memory was merged into an existing one.'), 201: api.adminMemory },
    handler: async (request, reply) => {
      owners.set(request, toEntity(request.body));
      const { memory, deduplicated } = await addMemory(deps, 'operator', request.body);
      return reply.code(deduplicated ? 200 : 201).send(await viewing.showMemory(deps, memory));
    },
  });

  routes.get('/admin/memories/:id', guard, {
    id: 'adminReadMemory',
    summary: 'Read a memory with its links',
    description: 'Returns a memory and its links to others.',
    problems: ['not_found'],
    params: memoryPath,
    response: { 200: api.adminMemory },
    handler: async (request) => viewing.showMemory(deps, await lookUp(request)),
  });

  routes.put('/admin/memories/:id', guard, {
    id: 'adminEditMemory',
    summary: 'Edit a memory',
    description: 'Changes a memory. The former content stays in the history.',
    problems: editing,
    example: { content: 'Prefers gouache over oil.' },
    params: memoryPath,
    body: operatorEdit,
    response: { 200: api.adminMemory },
    handler: async (request) =>
      viewing.showMemory(deps, await editMemory(deps, 'operator', await lookUp(request), request.body)),
  });

  routes.delete('/admin/memories/:id', guard, {
    id: 'adminDeleteMemory',
    summary: 'Delete a memory',
    description: 'Deletes a memory with its history and links.',
    problems: ['not_found'],
    otherResponses: gone,
    params: memoryPath,
    handler: async (request) => removeMemory(deps, await lookUp(request)),
  });

  routes.get('/admin/memories/:id/history', guard, {
    id: 'adminReadHistory',
    summary: 'List the revisions of a memory',
    description: 'Returns the merges, edits and replacements of a memory, newest first.',
    problems: ['not_found'],
    params: memoryPath,
    response: { 200: api.memoryHistory },
    handler: async (request) => viewing.historyOf(deps, await lookUp(request)),
  });

  routes.post('/admin/memories/:id/undo', guard, {
    id: 'adminUndoChange',
    summary: 'Undo the newest change of a memory',
    description: 'Reverts the newest change that is not undone. Undoing a merge restores both memories.',
    problems: ['nothing_to_undo', ...editing],
    params: memoryPath,
    response: { 200: api.adminMemory },
    handler: async (request) => viewing.showMemory(deps, await undoChange(deps, await lookUp(request))),
  });
}

function addEntityRoutes(app: HttpServer, guard: AdminGuard, deps: MemoryContext): void {
  const routes = routesOf(app, 'admin');
  routes.get('/admin/profiles', guard, {
    id: 'adminListProfiles',
    summary: 'List profiles',
    description: 'Returns a page of profiles.',
    querystring: api.profileListing,
    response: { 200: api.profilePage },
    handler: async (request) => viewing.pageOfProfiles(deps, request.query),
  });

  routes.get('/admin/profiles/:entity_type/:entity_id', guard, {
    id: 'adminReadProfile',
    summary: 'Read a profile',
    description: 'Returns a profile, with the memories that its facts are derived from.',
    problems: ['not_found'],
    params: api.entityPath,
    response: { 200: api.adminProfile },
    handler: async (request) => viewing.showProfile(deps, toEntity(request.params)),
  });

  routes.put('/admin/profiles/:entity_type/:entity_id', guard, {
    id: 'adminWriteProfile',
    summary: 'Write a profile',
    description: 'Writes the summary, the facts or the language. Written facts are locked.',
    problems: ['not_found'],
    example: { summary: 'A painter.', facts: { medium: 'watercolor' } },
    params: api.entityPath,
    body: api.profileEdit,
    response: { 200: api.adminProfile },
    handler: async (request) => viewing.writeProfile(deps, toEntity(request.params), request.body),
  });

  routes.delete('/admin/profiles/:entity_type/:entity_id', guard, {
    id: 'adminDeleteProfile',
    summary: 'Delete a profile',
    description: 'Deletes a profile. The memories stay.',
    problems: ['not_found'],
    otherResponses: { 204: ['The profile was deleted.'] },
    params: api.entityPath,
    handler: async (request) => viewing.removeProfile(deps, toEntity(request.params)),
  });

  routes.delete('/admin/entities/:entity_type/:entity_id', guard, {
    id: 'adminEraseEntity',
    summary: 'Erase all data of an entity',
    description: 'Erases all memories, the profile and the history of an entity.',
    otherResponses: erased,
    params: api.entityPath,
    handler: async (request) => eraseEntity(deps, toEntity(request.params)),
  });

  routes.get('/admin/entities/:entity_type/:entity_id/export', guard, {
    id: 'adminExportEntity',
    summary: 'Export all data of an entity',
    description: 'Returns the profile and all memories with their history.',
    problems: ['not_found'],
    params: api.entityPath,
    response: { 200: api.entityExport },
    handler: async (request) => viewing.exportEntity(deps, toEntity(request.params), deps.clock.now()),
  });
}
