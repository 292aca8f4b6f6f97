/** The memories that a caller may use (docs/specification/memory.md#memory-endpoints). */
import type { Caller } from '#platform/access/caller.ts';
import { problems } from '#platform/problem.ts';
import type { EntityType } from './api.ts';

/** Servers may use all memories. Users may use their own, and those of no group. Throws 403. */
export function assertMayUse(
  caller: Caller,
  entity: { readonly entity_type: EntityType; readonly entity_id: string; readonly group_id?: string | undefined },
): void {
  if (caller.kind === 'internal') return;
  const isOwn = entity.entity_type === 'user' && entity.entity_id === caller.userId && entity.group_id === undefined;
  if (!isOwn) throw problems.forbidden();
}
