import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { Problem } from '#platform/problem.ts';
import { isStorableText } from '#platform/storable.ts';
import * as api from '../api.ts';
import { type Added, addMemory } from '../changes/adding.ts';
import type { JudgingContext } from '../context.ts';
import { type Judgements, judgeWaiting, reserveJudgement } from '../judging/judge.ts';
import { assertNotPaused, EntityErased, readTime } from '../memories/entitystore.ts';
import { findMemories } from '../memories/memorystore.ts';
import { CallsUsedUp, callModel } from '../model/callstore.ts';
import type { ModelUsage, Question } from '../model/languagemodel.ts';
import { memoryProblems } from '../problems.ts';
import { entityOf } from '../routes.ts';

// The vocabulary of `POST /memory/extract` (docs/specification/memory.md#extraction).

const mostMessages = 100;
const mostBytes = 262_144;

const message = z.object({
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: z
    .string()
    .min(1)
    .refine(
      (text) => Buffer.byteLength(text) <= api.longestContentBytes,
      `must be at most ${api.longestContentBytes} bytes`,
    )
    .refine(isStorableText, 'must not contain NUL or lone surrogates'),
});

export const extractionRequest = z.object({
  entity_id: api.entityId.optional().describe('Required with X-Internal-Key. Default with a JWT: the id of the user.'),
  entity_type: api.entityType.optional().describe('As entity_id; `user` with a JWT.'),
  messages: z
    .array(message)
    .min(1)
    .max(mostMessages)
    .refine(
      (messages) => messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) <= mostBytes,
      `must have at most ${mostBytes} bytes of content together`,
    )
    .describe('A part of a conversation, the oldest message first.'),
  said_at: api.saidAt
    .optional()
    .describe(
      'The time when the messages were written. Default: now. If the entity has been erased since then, nothing is added.',
    ),
  thread_id: api.threadOfStatement,
});
type ExtractionRequest = z.output<typeof extractionRequest>;

export const extraction = z.object({
  memories: z.array(
    api.memory.pick({ id: true, content: true, type: true }).extend({
      action: z
        .enum(['added', 'merged', 'replaced', 'none'])
        .describe('`replaced`: an older memory was replaced by it. `none`: the same text already existed.'),
    }),
  ),
});
export type Extraction = z.output<typeof extraction>;
type ExtractedMemory = Extraction['memories'][number];

const user = { entity_id: '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21', entity_type: 'user' };
const adding = ['memory_full', 'embedder_unavailable'] as const;

/** `deps` is `undefined` without a language model. */
export function addExtractionRoutes(app: HttpServer, access: Access, deps: JudgingContext | undefined): void {
  const routes = routesOf(app, 'memory');
  routes.post('/memory/extract', access.userOrInternal, {
    id: 'extractMemories',
    summary: 'Extract memories from messages',
    description:
      'A language model finds facts in the messages. They are stored in the same way as by `POST /memory/add`. The headers `X-Model`, `X-Input-Tokens` and `X-Output-Tokens` describe the call. While the entity is paused, and for messages from the time of its last pause, the model is not called and the list is empty.',
    problems: ['forbidden', 'model_calls_used_up', 'model_unavailable', ...adding],
    example: { ...user, messages: [{ role: 'user', content: 'I paint in watercolor, never in oil.' }] },
    body: extractionRequest,
    response: { 200: extraction },
    handler: async ({ caller, body }, reply) => {
      const entity = entityOf(caller, body, 'body');
      if (deps === undefined) throw memoryProblems.model_unavailable();
      const { memories, model, usage } = await extractMemories(deps, entity, body);
      return reply
        .header('x-model', encodeURIComponent(model))
        .header('x-input-tokens', usage.inputTokens)
        .header('x-output-tokens', usage.outputTokens)
        .send({ memories });
    },
  });
}

// `POST /memory/extract`: a language model finds what to remember in messages (docs/specification/memory.md#extraction). It is
// added as by `POST /memory/add`, and the judge compares it before the response. A repeated call adds nothing twice.

interface Extracted {
  readonly memories: ExtractedMemory[];
  readonly model: string;
  readonly usage: ModelUsage;
}

/**
 * Throws 503 `model_unavailable` and 429 `model_calls_used_up`, and then writes nothing. Throws as `addMemory` does; what was
 * added before stays. If only the judging fails, the memories are answered as they are, and a job judges them later. If the
 * entity was erased since the messages were written, or was paused then, nothing is added.
 */
async function extractMemories(
  deps: JudgingContext,
  entity: api.Entity,
  { messages, said_at: saidAt, thread_id }: Pick<ExtractionRequest, 'messages' | 'said_at' | 'thread_id'>,
): Promise<Extracted> {
  const since = await readTime(deps.db, saidAt);
  const model = deps.model.id;
  let usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };
  try {
    await assertNotPaused(deps.db, entity, since);
    const found = await callModel(
      deps,
      'extract',
      entity,
      questionOf(messages, new Date(saidAt ?? Date.now())),
      since,
    ).catch(asProblem);
    usage = found.usage;
    const statement = { said_at: saidAt, thread_id };
    return { memories: await add({ ...deps, since }, entity, found.answer.memories, statement), model, usage };
  } catch (error) {
    if (error instanceof EntityErased || isPause(error)) return { memories: [], model, usage };
    throw error;
  }
}

/** Throws EntityErased. */
async function add(
  deps: JudgingContext,
  entity: api.Entity,
  found: readonly Pick<api.AdditionRequest, 'content' | 'type'>[],
  statement: Pick<api.AdditionRequest, 'said_at' | 'thread_id'>,
): Promise<ExtractedMemory[]> {
  const adding = { ...deps, requestJudgement: reserveJudgement(deps) };
  const added: Added[] = [];
  for (const { content, type } of found) {
    const request = { ...api.fieldsOf(entity), content, type, metadata: undefined, ...statement };
    try {
      added.push(await addMemory(adding, 'model', request));
    } catch (error) {
      if (!isPause(error)) throw error;
      break;
    }
  }
  const isNew = ({ outcome }: Added) => outcome === 'added' || outcome === 'restored';
  const ids = [...new Set(added.filter(isNew).map(({ memory }) => memory.id))];
  const judgements = await judge(deps, entity, ids);
  return describe(deps, added, judgements);
}

const isPause = (error: unknown) => error instanceof Problem && error.code === 'memory_paused';

function asProblem(error: unknown): never {
  if (error instanceof CallsUsedUp) throw memoryProblems.model_calls_used_up({ cause: error });
  // The database failed and not the model.
  if (error instanceof Problem || error instanceof EntityErased) throw error;
  throw memoryProblems.model_unavailable({ cause: error });
}

async function judge(deps: JudgingContext, entity: api.Entity, ids: readonly string[]): Promise<Judgements> {
  if (ids.length === 0) return new Map();
  try {
    return (await judgeWaiting(deps, entity, ids)) ?? new Map();
  } catch (error) {
    deps.log.warn({ err: error }, 'extracted memories are judged later');
    return new Map();
  }
}

/** One entry for each memory, as it is now. A job may have merged it before this call did. */
async function describe(
  { db }: JudgingContext,
  added: readonly Added[],
  judgements: Judgements,
): Promise<ExtractedMemory[]> {
  const actions = new Map<string, ExtractedMemory['action']>();
  const ids = added.map(({ memory }) => memory.id);
  const now = await findMemories(db, ids);
  for (const { memory, outcome } of added) {
    const successor = now.get(memory.id)?.replacedBy;
    const judged = judgements.get(memory.id) ?? (successor ? { id: successor, action: 'merged' as const } : undefined);
    const id = judged?.id ?? memory.id;
    if (actions.has(id) && judged === undefined) continue;
    actions.set(id, judged?.action ?? (outcome === 'repeated' ? 'none' : outcome === 'merged' ? 'merged' : 'added'));
  }
  const rows = await findMemories(db, [...actions.keys()]);
  return [...actions].flatMap(([id, action]) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ id, content: row.content, type: row.type, action }];
  });
}

/** What the language model is asked about a conversation, and how its answer is checked. */
const instructions = readFileSync(new URL('./instructions.md', import.meta.url), 'utf8');
const mostMemories = 20;
const longestContent = 2_000;

const answerShape = z.strictObject({
  memories: z
    .array(
      z.strictObject({
        type: z.enum(api.memoryTypes),
        content: z
          .string()
          .refine((text) => text.trim() !== '' && text.length <= longestContent && isStorableText(text), {
            message: `must be 1 to ${longestContent} characters without NUL and lone surrogates`,
          }),
      }),
    )
    .refine((memories) => memories.length <= mostMemories, `must be at most ${mostMemories}`),
});

function questionOf(messages: ExtractionRequest['messages'], saidAt: Date): Question<z.output<typeof answerShape>> {
  return {
    name: 'extract_memories',
    instructions,
    data: { said_at: saidAt.toISOString(), messages },
    answer: answerShape,
  };
}
