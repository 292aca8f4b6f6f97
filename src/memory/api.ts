/** The memory service's vocabulary (docs/specification/memory.md). */
import { z } from 'zod';
import { isStorableJson, isStorableText } from '#platform/storable.ts';

/** A field that a caller can omit or set to `null`. */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

export const entityTypes = ['user', 'group'] as const;
export const memoryTypes = ['preference', 'workflow', 'instruction', 'episodic'] as const;

export type EntityType = (typeof entityTypes)[number];
export type MemoryType = (typeof memoryTypes)[number];

export const entityType = z.enum(entityTypes);
const memoryType = z.enum(memoryTypes);
/** The caller chooses ids. They must fit into a database row, a path and a log line. */
export const entityId = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,256}$/u, 'must be 1 to 256 characters without control characters');

export const longestContentBytes = 32_768;
const content = z
  .string()
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine((text) => Buffer.byteLength(text) <= longestContentBytes, `must be at most ${longestContentBytes} bytes`)
  .refine(isStorableText, 'must not contain NUL or lone surrogates');

export const largestMetadataBytes = 65_536;
/** The number of levels, the field itself included. Metadata are not meant for documents. */
const deepestMetadata = 32;
const metadata = z
  .record(z.string(), z.unknown())
  .refine((value) => isStorableJson(value, deepestMetadata), {
    message: `must not contain NUL or lone surrogates, and must not be nested deeper than ${deepestMetadata}`,
    abort: true,
  })
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= largestMetadataBytes, {
    message: `must be at most ${largestMetadataBytes} bytes`,
  });
export type Metadata = Readonly<Record<string, unknown>>;

export const actors = ['user', 'server', 'operator', 'model'] as const;
export type Actor = (typeof actors)[number];
export const revisionActions = ['merge', 'edit', 'replace'] as const;
export type RevisionAction = (typeof revisionActions)[number];
export type LinkKind = 'related' | 'conflict';

/** The part of a memory that its history records. */
export const memoryContent = z.object({
  content: z.string(),
  type: z.enum(memoryTypes),
  metadata: z.record(z.string(), z.unknown()),
});
export type MemoryContent = z.output<typeof memoryContent>;

/** A fact of a profile, with the ids of the memories that it was derived from. */
export const derivedFact = z.object({ value: z.string(), evidence: z.array(z.string()) });
export type DerivedFact = z.output<typeof derivedFact>;

const limit = (byDefault: number) =>
  optional(z.int().min(1).max(100))
    .transform((value) => value ?? byDefault)
    .describe(`1 to 100; ${byDefault} by default.`);

export interface Entity {
  readonly entityType: EntityType;
  readonly entityId: string;
}

/** An entity in requests, responses and rows. */
export interface EntityFields {
  readonly entity_type: EntityType;
  readonly entity_id: string;
}
export const fieldsOf = ({ entityType, entityId }: Entity): EntityFields => ({
  entity_type: entityType,
  entity_id: entityId,
});
export const toEntity = ({ entity_type, entity_id }: EntityFields): Entity => ({
  entityType: entity_type,
  entityId: entity_id,
});

const entity = { entity_id: entityId, entity_type: entityType };

/** The conversation of a statement, by the id that its server uses. */
export const threadOfStatement = optional(entityId).describe('The thread of the statement.');

/** The time of a statement, which may be in the past. */
export const saidAt = z.iso.datetime().refine((time) => time >= '1970', 'must not be before 1970');

export const pausedAt = z.iso.datetime().nullable().describe('When the pause began. `null`: it is not paused.');

const timestamps = { created_at: z.iso.datetime(), updated_at: z.iso.datetime() };

export const memory = z.object({
  id: z.string(),
  ...entity,
  type: memoryType,
  content: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  ...timestamps,
  said_at: z.iso.datetime().describe('The time of the statement. Relative dates in the content count from it.'),
  invalid_at: z.iso.datetime().nullable().describe('The time of its replacement. `null`: it is valid.'),
  replaced_by: z.string().nullable().describe('The memory that replaced it, unless that memory was deleted.'),
  added_by: z
    .enum(actors)
    .nullable()
    .describe(
      'Who added the statement. `model`: it was extracted from messages. `server`: a server, even on behalf of a user. `null`: unknown, for memories of earlier versions.',
    ),
  thread_id: z.string().nullable().describe('The thread of the statement. It can have been deleted since.'),
});
export type Memory = z.output<typeof memory>;

/** Only valid memories are found. */
const foundMemory = memory.omit({ invalid_at: true, replaced_by: true }).extend({
  added_by: memory.shape.added_by.optional().describe('Only in searches of the user.'),
  thread_id: memory.shape.thread_id.optional().describe('Only in searches of the user.'),
  score: z.number().describe('Higher scores are more relevant to the query.'),
  fallback: z
    .literal(true)
    .optional()
    .describe('`true`: the query did not find it. It is one of the newest instructions and preferences.'),
  when: z
    .string()
    .optional()
    .describe(
      'The day, month, year or range of days (`2026-03-09/2026-03-15`) that a relative date of the content means.',
    ),
});
export type FoundMemory = z.output<typeof foundMemory>;

export const profile = z.object({
  ...entity,
  summary: z.string().nullable(),
  facts: z.record(z.string(), z.string()),
  evidence: z
    .record(z.string(), z.array(z.string()))
    .describe('The memories that each derived fact comes from. Without them, the fact disappears.'),
  language: z.string().nullable(),
  updated_at: z.iso.datetime(),
});
export type Profile = z.output<typeof profile>;

const degraded = z
  .literal(true)
  .optional()
  .describe('`true`: the embedder does not respond, so only the text was searched.');

export const injectRequest = z.object({
  ...entity,
  group_id: optional(entityId).describe('Sent in group conversations; servers only.'),
  query: z.string().describe("The user's message. If empty, the response contains profiles and no memories."),
  limit: limit(5),
});
export type InjectRequest = z.output<typeof injectRequest>;

export const injection = z.object({
  profile: profile.nullable(),
  group_profile: profile.nullable(),
  memories: z.array(foundMemory).describe('Memories of the entity, and up to 3 of the group, by descending score.'),
  degraded,
});
export type Injection = z.output<typeof injection>;

export const additionRequest = z.object({
  ...entity,
  content,
  type: memoryType,
  metadata: optional(metadata),
  said_at: optional(saidAt).describe('The time of the statement. Default: now.'),
  thread_id: threadOfStatement,
});
export type AdditionRequest = z.output<typeof additionRequest>;

export const addition = z.object({
  id: z.string().describe('The id of the memory that contains the content.'),
  deduplicated: z.boolean().describe('Whether the content was merged into an existing memory.'),
});

export const searchRequest = z.object({
  ...entity,
  query: z.string(),
  limit: limit(10),
  type_filter: optional(memoryType),
});
export type SearchRequest = z.output<typeof searchRequest>;

export const searchResult = z.object({ memories: z.array(foundMemory), degraded });
export type SearchResult = z.output<typeof searchResult>;

/** Accepts any text: an id that is no UUID is unknown (404), not malformed (400). */
export const memoryPath = z.object({ id: z.string() });

export const memoryEdit = z.object({ content, type: optional(memoryType), metadata: optional(metadata) });
export const operatorEdit = memoryEdit.extend({ content: optional(content) });
export type Edit = z.output<typeof operatorEdit>;
