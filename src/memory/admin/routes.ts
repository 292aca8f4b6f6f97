import type { FastifyRequest } from 'fastify';
import type { AdminGuard } from '#platform/access/admin.ts';
import { hashedTarget } from '#platform/audit/audit.ts';
import { auditOperators } from '#platform/audit/http.ts';
import type { Clock } from '#platform/clock.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import { additionRequest, type Entity, memoryPath, operatorEdit } from '../api.ts';
import { type AddingDeps, addMemory } from '../changes/adding.ts';
import { editMemory, lookUpMemory, removeMemory } from '../changes/editing.ts';
import { type ErasingDeps, eraseEntity } from '../changes/erasing.ts';
import { undoChange } from '../changes/undoing.ts';
import {
  adminMemory,
  adminProfile,
  entityExport,
  entityPath,
  history,
  memoryListing,
  memoryPage,
  profileEdit,
  profileListing,
  profilePage,
} from './api.ts';
import { exportEntity } from './exporting.ts';
import { pageOfProfiles, removeProfile, showProfile, writeProfile } from './profiles.ts';
import { historyOf, pageOfMemories, showMemory } from './viewing.ts';

export type AdminRouteDeps = AddingDeps & ErasingDeps & { readonly clock: Clock };

export function addAdminRoutes(app: HttpServer, guard: AdminGuard, deps: AdminRouteDeps): void {
  auditOperators(app, { db: deps.db, log: app.log as Log, isOperators, targetOf });
  addMemoryRoutes(app, guard, deps);
  addEntityRoutes(app, guard, deps);
}

/** Audits every change and every export of an entity. */
function isOperators(url: string, method: string): boolean {
  const isLook = (method === 'GET' || method === 'HEAD') && !url.endsWith('/export');
  return url.startsWith('/admin/') && !isLook;
}

function targetOf({ params }: FastifyRequest): string {
  const { id, entity_type: type, entity_id: entityId } = params as Readonly<Record<string, string | undefined>>;
  if (entityId !== undefined) return hashedTarget(`${type} ${entityId}`);
  return id === undefined ? 'memories' : `memory ${id.slice(0, 64)}`;
}

function addMemoryRoutes(app: HttpServer, guard: AdminGuard, deps: AdminRouteDeps): void {
  const routes = routesOf(app, 'admin');
  routes.get(
    '/admin/memories',
    guard,
    { summary: 'List memories', querystring: memoryListing, response: { 200: memoryPage } },
    async (request) => pageOfMemories(deps, request.query),
  );

  routes.post(
    '/admin/memories',
    guard,
    {
      summary: 'Create a memory',
      body: additionRequest,
      response: { 200: adminMemory.describe('The memory was merged into an existing one.'), 201: adminMemory },
    },
    async (request, reply) => {
      const { memory, deduplicated } = await addMemory(deps, 'operator', request.body);
      return reply.code(deduplicated ? 200 : 201).send(await showMemory(deps, memory));
    },
  );

  routes.get(
    '/admin/memories/:id',
    guard,
    { summary: 'Read a memory with its links', params: memoryPath, response: { 200: adminMemory } },
    async (request) => showMemory(deps, await lookUpMemory(deps, request.params.id)),
  );

  routes.put(
    '/admin/memories/:id',
    guard,
    { summary: 'Edit a memory', params: memoryPath, body: operatorEdit, response: { 200: adminMemory } },
    async (request) => {
      const seen = await lookUpMemory(deps, request.params.id);
      return showMemory(deps, await editMemory(deps, 'operator', seen, request.body));
    },
  );

  routes.delete(
    '/admin/memories/:id',
    guard,
    { summary: 'Delete a memory', params: memoryPath },
    async (request, reply) => {
      await removeMemory(deps, await lookUpMemory(deps, request.params.id));
      return reply.code(204).send();
    },
  );

  routes.get(
    '/admin/memories/:id/history',
    guard,
    { summary: 'List the revisions of a memory', params: memoryPath, response: { 200: history } },
    async (request) => historyOf(deps, await lookUpMemory(deps, request.params.id)),
  );

  routes.post(
    '/admin/memories/:id/undo',
    guard,
    { summary: 'Undo the newest change of a memory', params: memoryPath, response: { 200: adminMemory } },
    async (request) => {
      const seen = await lookUpMemory(deps, request.params.id);
      return showMemory(deps, await undoChange(deps, seen));
    },
  );
}

function addEntityRoutes(app: HttpServer, guard: AdminGuard, deps: AdminRouteDeps): void {
  const routes = routesOf(app, 'admin');
  const profilePath = '/admin/profiles/:entity_type/:entity_id';
  const entity = ({ entity_type, entity_id }: { readonly entity_type: Entity['entityType']; entity_id: string }) => ({
    entityType: entity_type,
    entityId: entity_id,
  });

  routes.get(
    '/admin/profiles',
    guard,
    { summary: 'List profiles', querystring: profileListing, response: { 200: profilePage } },
    async (request) => pageOfProfiles(deps, request.query),
  );

  routes.get(
    profilePath,
    guard,
    { summary: 'Read a profile', params: entityPath, response: { 200: adminProfile } },
    async (request) => showProfile(deps, entity(request.params)),
  );

  routes.put(
    profilePath,
    guard,
    { summary: 'Write a profile', params: entityPath, body: profileEdit, response: { 200: adminProfile } },
    async (request) => writeProfile(deps, entity(request.params), request.body),
  );

  routes.delete(profilePath, guard, { summary: 'Delete a profile', params: entityPath }, async (request, reply) => {
    await removeProfile(deps, entity(request.params));
    return reply.code(204).send();
  });

  routes.delete(
    '/admin/entities/:entity_type/:entity_id',
    guard,
    { summary: 'Erase all data of an entity', params: entityPath },
    async (request, reply) => {
      await eraseEntity(deps, entity(request.params));
      return reply.code(204).send();
    },
  );

  routes.get(
    '/admin/entities/:entity_type/:entity_id/export',
    guard,
    { summary: 'Export all data of an entity', params: entityPath, response: { 200: entityExport } },
    async (request) => exportEntity(deps, entity(request.params), deps.clock.now()),
  );
}
