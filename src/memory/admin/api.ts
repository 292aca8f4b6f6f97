/** The vocabulary of the admin API (docs/specification/memory.md#admin-api). */
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { pageSize } from '#platform/wholenumber.ts';
import {
  actors,
  derivedFact,
  entityTypes,
  memory,
  memoryContent,
  memoryTypes,
  pausedAt,
  profile,
  revisionActions,
} from '../api.ts';

const limit = pageSize(100, 20).describe('1 to 100. Default: 20.');
const text = z.string().max(1000).refine(isStorableText, 'must not contain NUL or lone surrogates');
const cursor = text.optional().describe('The `next_cursor` of the previous page.');
const q = text.optional();

export const includeInvalid = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true')
  .describe('`true`: includes replaced memories.');

export const adminMemory = memory.extend({
  links: z.array(z.object({ id: z.string(), kind: z.enum(['related', 'conflict']) })),
});
export type AdminMemory = z.output<typeof adminMemory>;

export const memoryListing = z.object({
  entity_id: text.optional(),
  entity_type: z.enum(entityTypes).optional(),
  type: z.enum(memoryTypes).optional(),
  q: q.describe('A part of the content. Ignores case.'),
  include_invalid: includeInvalid,
  limit,
  cursor,
});
export type MemoryListing = z.output<typeof memoryListing>;

export const memoryPage = z.object({ memories: z.array(adminMemory), next_cursor: z.string().nullable() });
export type MemoryPage = z.output<typeof memoryPage>;

const revision = z.object({
  number: z.int().describe('From 1.'),
  action: z.enum(revisionActions).describe('`replace`: another memory has replaced it.'),
  actor: z.enum(actors),
  before: memoryContent,
  after: memoryContent,
  incoming: memoryContent.nullable().describe('For a merge, the added content. For a replacement, the other memory.'),
  similarity: z.number().nullable(),
  embedder: z.string(),
  reason: z.string().nullable().describe('The reason of the decision of the language model.'),
  undone: z.boolean(),
  created_at: z.iso.datetime(),
});
export type Revision = z.output<typeof revision>;

export const memoryHistory = z.object({ history: z.array(revision).describe('The newest first.') });
export type MemoryHistory = z.output<typeof memoryHistory>;

export const entityPath = z.object({ entity_type: z.enum(entityTypes), entity_id: text.min(1) });

export const profileListing = z.object({
  q: q.describe('A part of the entity id, the summary or a fact. Ignores case.'),
  limit,
  cursor,
});
export type ProfileListing = z.output<typeof profileListing>;

export const adminProfile = profile.extend({
  locked: z.array(z.string()).describe('Facts that operators wrote.'),
  derived: z.record(z.string(), derivedFact).describe('Facts from memories, with their source memories.'),
});
export type AdminProfile = z.output<typeof adminProfile>;

export const profilePage = z.object({ profiles: z.array(adminProfile), next_cursor: z.string().nullable() });
export type ProfilePage = z.output<typeof profilePage>;

const longestSummary = 1000;
const fact = z.string().max(2000).refine(isStorableText, 'must not contain NUL or lone surrogates');
const factName = z.string().min(1).max(64).refine(isStorableText, 'must not contain NUL or lone surrogates');

export const profileEdit = z.object({
  summary: z
    .string()
    .refine((summary) => [...summary].length <= longestSummary, `must be at most ${longestSummary} characters`)
    .refine(isStorableText, 'must not contain NUL or lone surrogates')
    .nullish(),
  facts: z
    .record(factName, fact)
    .refine((facts) => Object.keys(facts).length <= 100, 'must be at most 100')
    .nullish(),
  language: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,35}$/, 'must be a language tag')
    .nullish(),
});
export type ProfileEdit = z.output<typeof profileEdit>;

export const entityExport = z.object({
  entity_type: z.enum(entityTypes),
  entity_id: z.string(),
  exported_at: z.iso.datetime(),
  paused_at: pausedAt,
  profile: adminProfile.nullable(),
  memories: z.array(adminMemory.extend({ history: z.array(revision) })),
});
export type EntityExport = z.output<typeof entityExport>;
