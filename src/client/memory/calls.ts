/** The calls of the memory service. Generated from its OpenAPI document by `npm run generate`. */
import { type Access, type CallOptions, callJson, callVoid } from '../calling.ts';
import { operationsOf } from '../operations.ts';
import type {
  Addition,
  AdditionRequest,
  AdminMemory,
  AdminProfile,
  EntityChange,
  EntityExport,
  EntityQuery,
  EntityState,
  Extraction,
  ExtractionRequest,
  Injection,
  InjectRequest,
  Memories,
  Memory,
  MemoryEdit,
  MemoryHistory,
  MemoryListing,
  MemoryPage,
  MemoryQuery,
  OperatorEdit,
  ProfileEdit,
  ProfileListing,
  ProfilePage,
  SearchRequest,
  SearchResult,
} from './api.ts';

export type MemoryCalls = ReturnType<typeof memoryCalls>;

export function memoryCalls(access: Access) {
  return {
    ...operationsOf(access),
    /** Read the context for a message: profiles and relevant memories (`POST /inject`). */
    inject: (body: InjectRequest, options?: CallOptions): Promise<Injection> =>
      callJson(access, { method: 'POST', path: '/inject', body, repeatable: true }, options),

    /** Add a memory (`POST /memory/add`). */
    addMemory: (body: AdditionRequest, options?: CallOptions): Promise<Addition> =>
      callJson(access, { method: 'POST', path: '/memory/add', body, repeatable: false }, options),

    /** Search the memories of an entity (`POST /memory/search`). */
    searchMemories: (body: SearchRequest, options?: CallOptions): Promise<SearchResult> =>
      callJson(access, { method: 'POST', path: '/memory/search', body, repeatable: true }, options),

    /** Edit a memory (`PUT /memory/:id`). */
    editMemory: (id: string, body: MemoryEdit, options?: CallOptions): Promise<Memory> =>
      callJson(access, { method: 'PUT', path: `/memory/${encodeURIComponent(id)}`, body, repeatable: true }, options),

    /** Delete a memory (`DELETE /memory/:id`). */
    deleteMemory: (id: string, options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'DELETE', path: `/memory/${encodeURIComponent(id)}`, repeatable: true }, options),

    /** Read a memory (`GET /memory/:id`). */
    readMemory: (id: string, options?: CallOptions): Promise<Memory> =>
      callJson(access, { method: 'GET', path: `/memory/${encodeURIComponent(id)}`, repeatable: true }, options),

    /** List the memories of an entity, newest first (`GET /memories`). */
    listMemories: (query?: MemoryQuery, options?: CallOptions): Promise<Memories> =>
      callJson(access, { method: 'GET', path: '/memories', query, repeatable: true }, options),

    /** Export all data of an entity (`GET /export`). */
    exportMemories: (query?: EntityQuery, options?: CallOptions): Promise<EntityExport> =>
      callJson(access, { method: 'GET', path: '/export', query, repeatable: true }, options),

    /** Read whether the memory of an entity is paused (`GET /entities/:entity_type/:entity_id`). */
    readEntity: (entityType: 'user' | 'group', entityId: string, options?: CallOptions): Promise<EntityState> =>
      callJson(
        access,
        {
          method: 'GET',
          path: `/entities/${encodeURIComponent(entityType)}/${encodeURIComponent(entityId)}`,
          repeatable: true,
        },
        options,
      ),

    /** Pause the memory of an entity, or end the pause (`PATCH /entities/:entity_type/:entity_id`). */
    pauseEntity: (
      entityType: 'user' | 'group',
      entityId: string,
      body: EntityChange,
      options?: CallOptions,
    ): Promise<EntityState> =>
      callJson(
        access,
        {
          method: 'PATCH',
          path: `/entities/${encodeURIComponent(entityType)}/${encodeURIComponent(entityId)}`,
          body,
          repeatable: true,
        },
        options,
      ),

    /** Erase all data of an entity (`DELETE /entities/:entity_type/:entity_id`). */
    eraseEntity: (entityType: 'user' | 'group', entityId: string, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        {
          method: 'DELETE',
          path: `/entities/${encodeURIComponent(entityType)}/${encodeURIComponent(entityId)}`,
          repeatable: true,
        },
        options,
      ),

    /** Extract memories from messages (`POST /memory/extract`). */
    extractMemories: (body: ExtractionRequest, options?: CallOptions): Promise<Extraction> =>
      callJson(access, { method: 'POST', path: '/memory/extract', body, repeatable: false }, options),

    /** List memories (`GET /admin/memories`). */
    adminListMemories: (query?: MemoryListing, options?: CallOptions): Promise<MemoryPage> =>
      callJson(access, { method: 'GET', path: '/admin/memories', query, repeatable: true }, options),

    /** Create a memory (`POST /admin/memories`). */
    adminAddMemory: (body: AdditionRequest, options?: CallOptions): Promise<AdminMemory> =>
      callJson(access, { method: 'POST', path: '/admin/memories', body, repeatable: false }, options),

    /** Read a memory with its links (`GET /admin/memories/:id`). */
    adminReadMemory: (id: string, options?: CallOptions): Promise<AdminMemory> =>
      callJson(access, { method: 'GET', path: `/admin/memories/${encodeURIComponent(id)}`, repeatable: true }, options),

    /** Edit a memory (`PUT /admin/memories/:id`). */
    adminEditMemory: (id: string, body: OperatorEdit, options?: CallOptions): Promise<AdminMemory> =>
      callJson(
        access,
        { method: 'PUT', path: `/admin/memories/${encodeURIComponent(id)}`, body, repeatable: true },
        options,
      ),

    /** Delete a memory (`DELETE /admin/memories/:id`). */
    adminDeleteMemory: (id: string, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        { method: 'DELETE', path: `/admin/memories/${encodeURIComponent(id)}`, repeatable: true },
        options,
      ),

    /** List the revisions of a memory (`GET /admin/memories/:id/history`). */
    adminReadHistory: (id: string, options?: CallOptions): Promise<MemoryHistory> =>
      callJson(
        access,
        { method: 'GET', path: `/admin/memories/${encodeURIComponent(id)}/history`, repeatable: true },
        options,
      ),

    /** Undo the newest change of a memory (`POST /admin/memories/:id/undo`). */
    adminUndoChange: (id: string, options?: CallOptions): Promise<AdminMemory> =>
      callJson(
        access,
        { method: 'POST', path: `/admin/memories/${encodeURIComponent(id)}/undo`, repeatable: false },
        options,
      ),

    /** List profiles (`GET /admin/profiles`). */
    adminListProfiles: (query?: ProfileListing, options?: CallOptions): Promise<ProfilePage> =>
      callJson(access, { method: 'GET', path: '/admin/profiles', query, repeatable: true }, options),

    /** Read a profile (`GET /admin/profiles/:entity_type/:entity_id`). */
    adminReadProfile: (entityType: 'user' | 'group', entityId: string, options?: CallOptions): Promise<AdminProfile> =>
      callJson(
        access,
        {
          method: 'GET',
          path: `/admin/profiles/${encodeURIComponent(entityType)}/${encodeURIComponent(entityId)}`,
          repeatable: true,
        },
        options,
      ),

    /** Write a profile (`PUT /admin/profiles/:entity_type/:entity_id`). */
    adminWriteProfile: (
      entityType: 'user' | 'group',
      entityId: string,
      body: ProfileEdit,
      options?: CallOptions,
    ): Promise<AdminProfile> =>
      callJson(
        access,
        {
          method: 'PUT',
          path: `/admin/profiles/${encodeURIComponent(entityType)}/${encodeURIComponent(entityId)}`,
          body,
          repeatable: true,
        },
        options,
      ),

    /** Delete a profile (`DELETE /admin/profiles/:entity_type/:entity_id`). */
    adminDeleteProfile: (entityType: 'user' | 'group', entityId: string, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        {
          method: 'DELETE',
          path: `/admin/profiles/${encodeURIComponent(entityType)}/${encodeURIComponent(entityId)}`,
          repeatable: true,
        },
        options,
      ),

    /** Erase all data of an entity (`DELETE /admin/entities/:entity_type/:entity_id`). */
    adminEraseEntity: (entityType: 'user' | 'group', entityId: string, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        {
          method: 'DELETE',
          path: `/admin/entities/${encodeURIComponent(entityType)}/${encodeURIComponent(entityId)}`,
          repeatable: true,
        },
        options,
      ),

    /** Export all data of an entity (`GET /admin/entities/:entity_type/:entity_id/export`). */
    adminExportEntity: (entityType: 'user' | 'group', entityId: string, options?: CallOptions): Promise<EntityExport> =>
      callJson(
        access,
        {
          method: 'GET',
          path: `/admin/entities/${encodeURIComponent(entityType)}/${encodeURIComponent(entityId)}/export`,
          repeatable: true,
        },
        options,
      ),
  };
}
