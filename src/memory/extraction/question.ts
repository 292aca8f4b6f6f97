/** What the language model is asked about a conversation, and how its answer is checked. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { memoryTypes } from '../api.ts';
import type { Question } from '../model/languagemodel.ts';
import type { ExtractionRequest } from './api.ts';

const instructions = readFileSync(new URL('./instructions.md', import.meta.url), 'utf8');
const mostMemories = 20;
const longestContent = 2_000;

const answerShape = z.strictObject({
  memories: z
    .array(
      z.strictObject({
        type: z.enum(memoryTypes),
        content: z
          .string()
          .refine((text) => text.trim() !== '' && text.length <= longestContent && isStorableText(text), {
            message: `must be 1 to ${longestContent} characters without NUL and lone surrogates`,
          }),
      }),
    )
    .refine((memories) => memories.length <= mostMemories, `must be at most ${mostMemories}`),
});

export function questionOf(messages: ExtractionRequest['messages']): Question<z.output<typeof answerShape>> {
  return { name: 'extract_memories', instructions, data: { messages }, answer: answerShape };
}
