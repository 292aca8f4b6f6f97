/**
 * The AI SDK's own wire for chats (docs/specification/agent.md#chat). Each request becomes the start of a run, with the
 * rights, limits and prices of `POST /task`.
 */
import { z } from 'zod';
import { invalid, Problem, problems } from '#platform/problem.ts';
import * as api from '../api.ts';
import type { Run } from '../runs/runstore.ts';
import { goOn, startTask } from '../runs/tasks.ts';
import type { ServingContext } from '../servingcontext.ts';
import { checkThread } from '../threads/changes.ts';
import { findMessage, findQuestionOf } from '../threads/messagestore.ts';

/** The messages before the last one are ignored, so they may exceed this. */
const maxMessageBytes = 1024 * 1024;

/** As `startTask`. Issues of a 400 name the fields of the chat's body. */
export async function startChat(deps: ServingContext, userId: string, body: ChatRequest): Promise<Run> {
  await checkThread(deps, userId, body.id);
  const approvals = answersIn(body);
  if (approvals.length > 0) return goOn(deps, userId, { threadId: body.id, approvals });
  const question = await questionOf(deps, body);
  try {
    return await startTask(deps, userId, {
      ...question,
      threadId: body.id,
      model: body.model,
      media: body.media,
      memory: body.memory,
      temporary: body.temporary,
      whenBusy: body.whenBusy,
    });
  } catch (error) {
    throw renameFields(error, body.messages.findLastIndex(isOfUser));
  }
}

/** The last message is an answer whose tool calls a person has approved or denied. Of the message, nothing else is read. */
function answersIn({ messages, trigger }: ChatRequest): readonly api.ApprovalAnswer[] {
  const last = messages.at(-1);
  if (trigger !== 'submit-message' || last?.role !== 'assistant' || !Array.isArray(last.parts)) return [];
  return last.parts.flatMap((part: unknown, index) => {
    const { state, approval } = Object(part) as { state?: unknown; approval?: { id?: unknown } };
    if (state !== 'approval-responded') return [];
    const { data, error } = api.approvalAnswer.safeParse({ ...approval, approvalId: approval?.id });
    if (data !== undefined) return [data];
    const [issue] = error.issues;
    const field = String(issue?.path[0] ?? '').replace('approvalId', 'id');
    throw invalid(
      ['body.messages', messages.length - 1, 'parts', index, 'approval', field].join('.'),
      issue?.message ?? 'is not valid',
    );
  });
}

type Question = Pick<api.TaskRequest, 'message' | 'rewindTo'>;

async function questionOf({ db }: ServingContext, body: ChatRequest): Promise<Question> {
  const { id: threadId, messages, trigger } = body;
  const last = messages.findLast(isOfUser);
  const replaced = body.messageId ?? undefined;
  if (trigger === 'regenerate-message') {
    const stored =
      (replaced === undefined ? undefined : await findQuestionOf(db, threadId, replaced)) ??
      // An answer that failed before it showed anything is not stored, but the client has named it.
      (last?.id === undefined ? undefined : await findQuestionOf(db, threadId, last.id));
    if (stored !== undefined) return { message: askAgain(stored), rewindTo: stored.id };
  }
  const message = lastMessage(messages);
  if (replaced === undefined) return { message };
  const stored = await findMessage(db, threadId, replaced);
  if (stored?.role === 'user') return { message, rewindTo: stored.id };
  if (stored !== undefined) throw invalid('body.messageId', 'must be a message of the user');
  // The first attempt at this message was refused, so there is nothing to replace.
  if (message.id === replaced) return { message };
  throw invalid('body.messageId', 'must be a message of the thread');
}

function lastMessage(messages: ChatRequest['messages']): NonNullable<api.TaskRequest['message']> {
  const index = messages.findLastIndex(isOfUser);
  const last = messages[index];
  if (last === undefined) throw invalid('body.messages', 'must have a message of role user');
  if (Buffer.byteLength(JSON.stringify(last)) > maxMessageBytes)
    throw problems.payload_too_large({
      message: 'The message is larger than 1 MiB. Upload its files and attach them.',
    });
  const { data, error } = api.userMessage.safeParse(last);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw invalid(['body.messages', index, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not valid');
}

function askAgain(stored: { readonly id: string; readonly parts: unknown; readonly metadata: unknown }) {
  const { data } = api.userMessage.safeParse({ ...stored, role: 'user' });
  if (data === undefined) throw invalid('body.messageId', 'must be a message that can be sent again');
  return data;
}

const isOfUser = ({ role }: ChatRequest['messages'][number]) => role === 'user';

function renameFields(error: unknown, index: number): unknown {
  const [issue] = error instanceof Problem ? (error.details.issues ?? []) : [];
  if (issue === undefined) return error;
  const path = issue.path
    .replace('body.rewindTo', 'body.messageId')
    .replace('body.message.', `body.messages.${index}.`);
  return invalid(path, issue.message);
}

/** The body of `POST /chat`: what the AI SDK's `DefaultChatTransport` sends (docs/specification/agent.md#chat). */
export const chatRequest = z.object({
  id: api.threadId.describe('The thread.'),
  messages: z
    .array(z.looseObject({ id: z.string().optional(), role: z.string() }))
    .min(1)
    .describe(
      'The conversation in the client. Only the last message of the user is read, or the answers to approvals in the last message.',
    ),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: api.messageId.nullish().describe('The message of the user to replace, or the message to generate again.'),
  model: z.string().min(1).max(128).nullish(),
  whenBusy: api.whenBusy,
  media: api.runMedia.nullish(),
  memory: z.boolean().nullish().describe('As in `POST /task`.'),
  temporary: api.temporary,
});
type ChatRequest = z.output<typeof chatRequest>;
export const chatParams = z.object({ id: api.threadId });
