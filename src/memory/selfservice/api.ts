/** What users see of their own memories (docs/specification/memory.md#self-service). */
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { pageSize } from '#platform/wholenumber.ts';
import { includeInvalid } from '../admin/api.ts';
import { entityTypes, memory, memoryTypes, pausedAt } from '../api.ts';

const text = z.string().min(1).max(1000).refine(isStorableText, 'must not contain NUL or lone surrogates');

/** With a JWT, the default is the user's own entity. */
export const entityQuery = z.object({
  entity_id: text.optional().describe('Required with X-Internal-Key. Default with a JWT: the id of the user.'),
  entity_type: z.enum(entityTypes).optional().describe('As entity_id; `user` with a JWT.'),
});
export type EntityQuery = z.output<typeof entityQuery>;

export const memoryQuery = entityQuery.extend({
  type: z.enum(memoryTypes).optional(),
  include_invalid: includeInvalid,
  limit: pageSize(100, 20).describe('1 to 100. Default: 20.'),
  cursor: text.optional().describe('The `next_cursor` of the previous page.'),
});
export const entityState = z.object({ entity_type: z.enum(entityTypes), entity_id: z.string(), paused_at: pausedAt });
export const entityChange = z.object({
  paused: z
    .boolean()
    .describe('`true`: nothing new is remembered, and nothing that is known is used. `false`: ends the pause.'),
});

export const memories = z.object({ memories: z.array(memory), next_cursor: z.string().nullable() });
