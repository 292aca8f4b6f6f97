/** Users list, export and erase what is remembered about them (docs/specification/memory.md#self-service). */

import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { entityExport, entityPath } from '../admin/api.ts';
import { exportEntity, listPage } from '../admin/viewing.ts';
import { type Entity, fieldsOf, memory, memoryPath } from '../api.ts';
import { lookUpMemory } from '../changes/editing.ts';
import { eraseEntity, pauseEntity } from '../changes/entitywrite.ts';
import type { MemoryContext } from '../context.ts';
import { findEntity, pauseOf } from '../memories/entitystore.ts';
import { toMemory } from '../memories/presenting.ts';
import { assertMayUse, entityOf } from '../routes.ts';
import { entityChange, entityQuery, entityState, memories, memoryQuery } from './api.ts';

const erased = { 204: ['Nothing is stored about the entity any more.'] } as const;

export function addSelfServiceRoutes(app: HttpServer, access: Access, deps: MemoryContext): void {
  const routes = routesOf(app, 'memory');

  routes.get('/memories', access.userOrInternal, {
    id: 'listMemories',
    summary: 'List the memories of an entity, newest first',
    description: 'Returns a page of memories. Replaced ones are listed only with `include_invalid=true`.',
    problems: ['forbidden'],
    querystring: memoryQuery,
    response: { 200: memories },
    handler: async ({ caller, query }) => {
      const { include_invalid: includeInvalid, type, limit, cursor } = query;
      const filter = { ...entityOf(caller, query), includeInvalid, type, limit };
      const { rows, nextCursor } = await listPage(deps, filter, cursor);
      return { memories: rows.map(toMemory), next_cursor: nextCursor };
    },
  });

  routes.get('/memory/:id', access.userOrInternal, {
    id: 'readMemory',
    summary: 'Read a memory',
    description: 'Returns a memory.',
    problems: ['forbidden', 'not_found'],
    params: memoryPath,
    response: { 200: memory },
    handler: async ({ caller, params }) => {
      const found = await lookUpMemory(deps, params.id);
      assertMayUse(caller, fieldsOf(found));
      return toMemory(found);
    },
  });

  routes.get('/export', access.userOrInternal, {
    id: 'exportMemories',
    summary: 'Export all data of an entity',
    description: 'Returns the profile and all memories with their history. It returns 404 if nothing is stored.',
    problems: ['forbidden', 'not_found'],
    querystring: entityQuery,
    response: { 200: entityExport },
    handler: async ({ caller, query }) => exportEntity(deps, entityOf(caller, query), deps.clock.now()),
  });

  const describeEntity = (entity: Entity, since: Date | null) => ({
    ...fieldsOf(entity),
    paused_at: since?.toISOString() ?? null,
  });

  routes.get('/entities/:entity_type/:entity_id', access.userOrInternal, {
    id: 'readEntity',
    summary: 'Read whether the memory of an entity is paused',
    description: 'Returns when the pause began. An unknown entity is not paused.',
    problems: ['forbidden'],
    params: entityPath,
    response: { 200: entityState },
    handler: async ({ caller, params }) => {
      const entity = entityOf(caller, params);
      return describeEntity(entity, pauseOf(await findEntity(deps.db, entity)));
    },
  });

  routes.patch('/entities/:entity_type/:entity_id', access.userOrInternal, {
    id: 'pauseEntity',
    summary: 'Pause the memory of an entity, or end the pause',
    description:
      'During a pause, additions return 409 `memory_paused`, extractions add nothing, and models get neither profile nor memories. Stored memories stay. You can repeat the request.',
    problems: ['forbidden'],
    example: { paused: true },
    params: entityPath,
    body: entityChange,
    response: { 200: entityState },
    handler: async ({ caller, params, body }) => {
      const entity = entityOf(caller, params);
      return describeEntity(entity, await pauseEntity(deps, entity, body.paused));
    },
  });

  routes.delete('/entities/:entity_type/:entity_id', access.userOrInternal, {
    id: 'eraseEntity',
    summary: 'Erase all data of an entity',
    description:
      'Erases all memories, the profile, the history and the pause of an entity. You can repeat the request.',
    problems: ['forbidden'],
    otherResponses: erased,
    params: entityPath,
    handler: async ({ caller, params }) => eraseEntity(deps, entityOf(caller, params)),
  });
}
