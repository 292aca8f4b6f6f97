/** What users see of their own memories (docs/specification/memory.md#self-service). */
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { includeInvalid } from '../admin/api.ts';
import { entityTypes, memory, memoryTypes } from '../api.ts';

const text = z.string().min(1).max(1000).refine(isStorableText, 'must be without NUL and lone surrogates');

/** With a JWT, the default is the user's own entity. */
export const entityQuery = z.object({
  entity_id: text.optional().describe('Required with X-Internal-Key; otherwise the own id when it is left out.'),
  entity_type: z.enum(entityTypes).optional().describe('As entity_id; `user` with a JWT.'),
});
export type EntityQuery = z.output<typeof entityQuery>;

export const ownListing = entityQuery.extend({
  type: z.enum(memoryTypes).optional(),
  include_invalid: includeInvalid,
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('1 to 100; 20 when it is left out.'),
  cursor: text.optional().describe('`next_cursor` of the page before.'),
});
export const ownPage = z.object({ memories: z.array(memory), next_cursor: z.string().nullable() });
