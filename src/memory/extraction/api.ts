/** The vocabulary of `POST /memory/extract` (docs/specification/memory.md#extraction). */
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { entityId, entityType, longestContentBytes, memory, saidAt, threadOfStatement } from '../api.ts';

const mostMessages = 100;
const mostBytes = 262_144;

const message = z.object({
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= longestContentBytes, `must be at most ${longestContentBytes} bytes`)
    .refine(isStorableText, 'must not contain NUL or lone surrogates'),
});

export const extractionRequest = z.object({
  entity_id: entityId.optional().describe('Required with X-Internal-Key. Default with a JWT: the id of the user.'),
  entity_type: entityType.optional().describe('As entity_id; `user` with a JWT.'),
  messages: z
    .array(message)
    .min(1)
    .max(mostMessages)
    .refine(
      (messages) => messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) <= mostBytes,
      `must have at most ${mostBytes} bytes of content together`,
    )
    .describe('A part of a conversation, the oldest message first.'),
  said_at: saidAt
    .optional()
    .describe(
      'The time when the messages were written. Default: now. If the entity has been erased since then, nothing is added.',
    ),
  thread_id: threadOfStatement,
});
export type ExtractionRequest = z.output<typeof extractionRequest>;

export const extraction = z.object({
  memories: z.array(
    memory.pick({ id: true, content: true, type: true }).extend({
      action: z
        .enum(['added', 'merged', 'replaced', 'none'])
        .describe('`replaced`: an older memory was replaced by it. `none`: the same text already existed.'),
    }),
  ),
});
export type Extraction = z.output<typeof extraction>;
export type ExtractedMemory = Extraction['memories'][number];
