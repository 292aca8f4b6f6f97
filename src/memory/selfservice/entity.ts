import type { Caller } from '#platform/access/caller.ts';
import { invalid } from '#platform/problem.ts';
import type { Entity } from '../api.ts';
import { assertMayUse } from '../ownership.ts';
import type { EntityQuery } from './api.ts';

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
