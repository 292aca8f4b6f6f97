/** Memories of the user, for the instructions of each turn (docs/specification/memory.md#inject) and for the memory tools. */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { parseJson } from '#platform/json.ts';
import type { AgentContext } from '../context.ts';

/** After this time, a turn continues without memories. */
const injectTimeoutMs = 1500;

const profile = z.object({ summary: z.string().nullish(), facts: z.record(z.string(), z.string()).nullish() });
type Profile = z.output<typeof profile>;
const injected = z.object({
  profile: profile.nullish(),
  memories: z.array(
    z.object({
      content: z.string(),
      type: z.string().optional(),
      said_at: z.string().optional(),
      when: z.string().optional(),
    }),
  ),
});
const added = z.object({ id: z.string(), deduplicated: z.boolean().optional() });
const found = z.object({ memories: z.array(z.object({ id: z.string(), content: z.string() })) });

/** What the model receives about the user. Each item is one line, and occurs once. */
export interface KnownOfUser {
  /** Standing instructions and preferences, the newest first. */
  readonly wishes: readonly string[];
  readonly facts: readonly string[];
}

/** Profiles that were read in the last minutes, for turns in which the memory service is slow. */
const profiles = new LRUCache<string, { readonly profile: Profile | undefined }>({ max: 10_000, ttl: 10 * 60_000 });

/** Each message is a user whose memory changed: what was read of it before must not be used any more. */
export const memoryTopic = 'memory';

export function forgetProfiles({ pubsub }: Pick<AgentContext, 'pubsub'>): () => void {
  return pubsub.subscribe(memoryTopic, {
    // A new entry, so that a response that is on its way does not replace it.
    onMessage: (userId) => profiles.set(userId, { profile: undefined }),
    onGap: () => profiles.clear(),
  });
}

/** If the memory service does not answer in time, returns what the profile contained in the last ten minutes. */
export async function injectMemory(
  { memory, log, metrics }: AgentContext,
  userId: string,
  query: string,
  signal: AbortSignal,
): Promise<KnownOfUser> {
  const before = profiles.peek(userId);
  try {
    const answer = await memory.send({
      method: 'POST',
      route: '/inject',
      json: { entity_id: userId, entity_type: 'user', query: excerpt(query) },
      onBehalfOf: userId,
      idempotent: true,
      timeoutMs: injectTimeoutMs,
      signal: AbortSignal.any([signal, AbortSignal.timeout(injectTimeoutMs)]),
    });
    if (answer.status !== 200) throw failureOf(answer);
    const known = injected.parse(answer.json());
    if (profiles.peek(userId) === before) profiles.set(userId, { profile: known.profile ?? undefined });
    return arrange(known.profile ?? undefined, known.memories);
  } catch (error) {
    signal.throwIfAborted();
    metrics.turnedWithoutMemory();
    log.warn({ err: error }, 'a turn continues without memory');
    return arrange(profiles.get(userId)?.profile, []);
  }
}

const isWish = (type: string | undefined) => type === 'instruction' || type === 'preference';

function arrange({ summary, facts }: Profile = {}, found: z.output<typeof injected>['memories']): KnownOfUser {
  const { standing_instructions = '', preferences = '', ...others } = facts ?? {};
  const seen = new Set<string>();
  const once = (lines: readonly string[], shown = lines) =>
    lines.flatMap((line, place) => {
      const key = oneLine(line).toLowerCase();
      if (key === '' || seen.has(key)) return [];
      seen.add(key);
      return [oneLine(shown[place] ?? line)];
    });
  const wishes = [
    ...standing_instructions.split('\n'),
    ...found.filter(({ type }) => isWish(type)).map(({ content }) => content),
    ...preferences.split('\n'),
  ];
  const events = found.filter(({ type }) => !isWish(type));
  return {
    wishes: once(wishes),
    facts: [
      ...once([...(summary ? [summary] : []), ...Object.entries(others).map(([name, value]) => `${name}: ${value}`)]),
      ...once(
        events.map(({ content }) => content),
        events.map(({ content, said_at: saidAt, when }) => {
          const said = saidAt === undefined ? '' : `${saidAt.slice(0, 10)}: `;
          return `${said}${content}${when === undefined ? '' : ` (${when})`}`;
        }),
      ),
    ],
  };
}

/** Nothing in a memory can end its line or the block that it is in. */
const oneLine = (text: string) =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .trim();

export type KnownMemory = z.output<typeof found>['memories'][number];

/** The memories that the query means, the nearest first. Throws `engine_unavailable` when the memory service does not answer. */
export async function searchMemory(
  { memory }: AgentContext,
  userId: string,
  query: string,
  signal: AbortSignal,
): Promise<readonly KnownMemory[]> {
  const json = { entity_id: userId, entity_type: 'user', query: excerpt(query), limit: 10 };
  const call = { json, onBehalfOf: userId, idempotent: true, signal };
  const answer = await memory.send({ method: 'POST', route: '/memory/search', ...call });
  if (answer.status !== 200) throw failureOf(answer);
  return found.parse(answer.json()).memories;
}

/** Returns `false` if the user has no such memory. Throws as `searchMemory`. */
export async function deleteMemory(
  { memory }: AgentContext,
  userId: string,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const call = { params: { id }, onBehalfOf: userId, signal };
  profiles.delete(userId);
  const answer = await memory.send({ method: 'DELETE', route: '/memory/:id', ...call });
  if (answer.status === 403 || answer.status === 404) return false;
  if (answer.status !== 204) throw failureOf(answer);
  return true;
}

/** Why the memory service takes no addition. */
export const refusals = {
  memory_full: 'The memory is full.',
  memory_paused: 'The user has paused the memory, so nothing is remembered.',
} as const;

export class MemoryRefused extends Error {
  readonly code: keyof typeof refusals;

  constructor(code: keyof typeof refusals) {
    super(refusals[code]);
    this.code = code;
  }
}

const refusal = z.object({ error: z.enum(['memory_full', 'memory_paused']) });

/** As `searchMemory`; also throws MemoryRefused. `threadId`: the conversation of the statement. The memory service merges repeats. */
export async function addMemory(
  { memory }: AgentContext,
  userId: string,
  { content, type, threadId }: { readonly content: string; readonly type: string; readonly threadId?: string },
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly deduplicated: boolean }> {
  const json = { entity_id: userId, entity_type: 'user', content: excerpt(content), type, thread_id: threadId };
  const answer = await memory.send({ method: 'POST', route: '/memory/add', json, onBehalfOf: userId, signal });
  if (answer.status === 409) throw new MemoryRefused(refusal.parse(answer.json()).error);
  if (answer.status !== 200 && answer.status !== 201) throw failureOf(answer);
  const { id, deduplicated = false } = added.parse(answer.json());
  return { id, deduplicated };
}

export interface ConversationMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface ExtractionOrder {
  readonly messages: readonly ConversationMessage[];
  readonly threadId: string;
  readonly saidAt: Date;
}

export interface ExtractionUsage {
  /** The language model of the memory service. */
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Longer than the two calls of the model that an extraction makes. */
const extractionTimeoutMs = 150_000;

/**
 * Has the memory service extract what to remember of the user from messages of a thread, of which the first was written at
 * `saidAt`. Nothing is remembered if the user's memories were erased since, or paused then. Returns `undefined` if the model was
 * not called: the user has had the extractions of the day, or the memory is full or paused. Throws if the memory service or
 * its model does not answer.
 */
export async function extractMemories(
  { memory }: AgentContext,
  userId: string,
  { messages, threadId, saidAt }: ExtractionOrder,
  signal: AbortSignal,
): Promise<ExtractionUsage | undefined> {
  const answer = await memory.send({
    method: 'POST',
    route: '/memory/extract',
    json: {
      entity_id: userId,
      entity_type: 'user',
      messages: messages.map(shortened),
      said_at: saidAt.toISOString(),
      thread_id: threadId,
    },
    onBehalfOf: userId,
    timeoutMs: extractionTimeoutMs,
    signal,
  });
  if (answer.status === 429 || answer.status === 409) return undefined;
  if (answer.status !== 200) throw failureOf(answer);
  const count = (name: string) => Number(answer.headers[name] ?? 0);
  const [inputTokens, outputTokens] = [count('x-input-tokens'), count('x-output-tokens')];
  if (inputTokens + outputTokens === 0) return undefined;
  return { model: decodeURIComponent(String(answer.headers['x-model'] ?? '')), inputTokens, outputTokens };
}

const shortened = ({ role, content }: ConversationMessage) => ({ role, content: excerpt(content) });

/** The memory service takes 32 KiB. */
const excerpt = (text: string) => text.slice(0, 8000).toWellFormed();

/** Names the cause, such as `model_unavailable`, for the operators who see the failed job. */
function failureOf({ status, body }: { readonly status: number; readonly body: Buffer }): Error {
  const { error = '', message = '' } = Object(parseJson(body.toString()));
  return new Error(`the memory service returned ${status} ${error} ${message}`.trimEnd());
}
