/** The memories that a caller may use (docs/specification/memory.md#memory-endpoints). */
import type { Caller } from '#platform/access/caller.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { Entity, EntityType } from './api.ts';
import type { EntityQuery } from './selfservice/api.ts';

/** Servers may use all memories. Users may use their own, and those of no group. Throws 403. */
export function assertMayUse(
  caller: Caller,
  entity: { readonly entity_type: EntityType; readonly entity_id: string; readonly group_id?: string | undefined },
): void {
  if (caller.kind === 'internal') return;
  const isOwn = entity.entity_type === 'user' && entity.entity_id === caller.userId && entity.group_id === undefined;
  if (!isOwn) throw problems.forbidden();
}

/** Throws 400 if a server names no entity, and 403 if a user names another one. */
export function entityOf(caller: Caller, named: EntityQuery, place: 'querystring' | 'body' = 'querystring'): Entity {
  const own = caller.kind === 'user' ? { entity_type: 'user' as const, entity_id: caller.userId } : undefined;
  const entity_type = named.entity_type ?? own?.entity_type;
  const entity_id = named.entity_id ?? own?.entity_id;
  if (entity_id === undefined) throw invalid(`${place}.entity_id`, 'is required with X-Internal-Key');
  if (entity_type === undefined) throw invalid(`${place}.entity_type`, 'is required with X-Internal-Key');
  assertMayUse(caller, { entity_type, entity_id });
  return { entityType: entity_type, entityId: entity_id };
}
