/**
 * Memories of the user, for the instructions of each turn (docs/specification/memory.md#inject) and for the memory
 * tools.
 */
import { z } from 'zod';
import type { ActingClient } from '#platform/http/client.ts';
import type { Log } from '#platform/log.ts';

export interface MemoryDeps {
  /** Of the memory service, with the internal key. */
  readonly memory: ActingClient;
  readonly log: Log;
}

/** After this time, a turn continues without memories. */
const injectTimeoutMs = 1500;

const memories = z.array(z.object({ content: z.string() }));
const profile = z
  .object({ summary: z.string().nullish(), facts: z.record(z.string(), z.string()).nullish() })
  .nullish();
const injected = z.object({ profile, memories });
const found = z.object({ memories });
const added = z.object({ id: z.string(), deduplicated: z.boolean().optional() });

/** Lines for the model's instructions; none when nothing is known, or the memory service does not answer in time. */
export async function injectMemory(
  { memory, log }: MemoryDeps,
  userId: string,
  query: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const answer = await memory.send({
      method: 'POST',
      route: '/inject',
      json: { entity_id: userId, entity_type: 'user', query: excerpt(query) },
      onBehalfOf: userId,
      idempotent: true,
      timeoutMs: injectTimeoutMs,
      signal,
    });
    if (answer.status !== 200) throw new Error(`the memory service answered ${answer.status}`);
    const known = injected.parse(answer.json());
    return [
      ...(known.profile?.summary ? [known.profile.summary] : []),
      ...Object.entries(known.profile?.facts ?? {}).map(([name, value]) => `${name}: ${value}`),
      ...known.memories.map(({ content }) => content),
    ];
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, 'a turn goes without memory');
    return [];
  }
}

/** Throws `engine_unavailable` when the memory service does not answer. */
export async function searchMemory(
  { memory }: MemoryDeps,
  userId: string,
  query: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const json = { entity_id: userId, entity_type: 'user', query: excerpt(query), limit: 10 };
  const answer = await memory.send({
    method: 'POST',
    route: '/memory/search',
    json,
    onBehalfOf: userId,
    idempotent: true,
    signal,
  });
  if (answer.status !== 200) throw new Error(`the memory service answered ${answer.status}`);
  return found.parse(answer.json()).memories.map(({ content }) => content);
}

/** The user's memory takes nothing more. */
export class MemoryFull extends Error {}

/** As `searchMemory`; also throws MemoryFull. Repeats are merged by the memory service. */
export async function addMemory(
  { memory }: MemoryDeps,
  userId: string,
  content: string,
  type: string,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly deduplicated: boolean }> {
  const json = { entity_id: userId, entity_type: 'user', content: excerpt(content), type };
  const answer = await memory.send({
    method: 'POST',
    route: '/memory/add',
    json,
    onBehalfOf: userId,
    signal,
  });
  if (answer.status === 409) throw new MemoryFull();
  if (answer.status !== 200 && answer.status !== 201) throw new Error(`the memory service answered ${answer.status}`);
  const { id, deduplicated = false } = added.parse(answer.json());
  return { id, deduplicated };
}

/** The memory service takes 32 KiB. */
const excerpt = (text: string) => text.slice(0, 8000).toWellFormed();
