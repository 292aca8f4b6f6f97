/** The body of `POST /chat`: what the AI SDK's `DefaultChatTransport` sends (docs/specification/agent.md#chat). */
import { z } from 'zod';
import { messageId, threadId } from '../api.ts';

export const chatRequest = z.object({
  id: threadId.describe('The thread.'),
  messages: z
    .array(z.looseObject({ id: z.string().optional(), role: z.string() }))
    .min(1)
    .describe('The conversation in the client. Only the last message of the user is read.'),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: messageId.nullish().describe('The message of the user to replace, or the message to generate again.'),
  model: z.string().min(1).max(128).nullish(),
});
export type ChatRequest = z.output<typeof chatRequest>;
export const chatParams = z.object({ id: threadId });
