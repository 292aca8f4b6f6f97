import { tool, zodSchema } from 'ai';
import { z } from 'zod';
import type { AgentContext } from '../context.ts';
import { addMemory, deleteMemory, type KnownMemory, MemoryRefused, searchMemory } from '../services/memory.ts';
import type { ToolContext } from './context.ts';

const unavailable = {
  status: 'failed',
  failure: { code: 'memory_unavailable', message: 'The memory service is not responding right now.', retryable: true },
} as const;

const refused = ({ code, message }: MemoryRefused) =>
  ({ status: 'failed', failure: { code, message, retryable: false } }) as const;

/** The library derives the JSON schema of each once. */
const inputs = {
  save: zodSchema(
    z.object({
      content: z.string().min(1).max(8000).describe('One statement, in the words of the user.'),
      type: z.enum(['preference', 'workflow', 'instruction', 'episodic']).default('preference'),
    }),
  ),
  recall: zodSchema(z.object({ query: z.string().min(1).max(8000) })),
  forget: zodSchema(
    z.object({
      query: z.string().min(1).max(8000).describe('The statement to forget, in the words of the user.'),
      memoryId: z.string().optional().describe('The memory to delete, from an earlier answer of this tool.'),
    }),
  ),
};

export function memoryTools(deps: AgentContext, { run }: ToolContext) {
  /** If the memory service fails, the turn continues without it. */
  const softly = async <T>(work: () => Promise<T>, signal: AbortSignal) => {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MemoryRefused) return refused(error);
      deps.log.warn({ err: error }, 'a memory tool failed');
      return unavailable;
    }
  };
  return {
    saveMemory: tool({
      description: 'Remembers something about the user for later conversations.',
      inputSchema: inputs.save,
      execute: ({ content, type }, { abortSignal = new AbortController().signal }) =>
        softly(async () => {
          const { id, deduplicated } = await addMemory(
            deps,
            run.ownerId,
            { content, type, threadId: run.threadId },
            abortSignal,
          );
          return { status: 'completed', memoryId: id, deduplicated, content };
        }, abortSignal),
    }),
    recallMemory: tool({
      description: 'Searches the stored facts about the user.',
      inputSchema: inputs.recall,
      execute: ({ query }, { abortSignal = new AbortController().signal }) =>
        softly(async () => {
          const memories = await searchMemory(deps, run.ownerId, query, abortSignal);
          return { status: 'completed', memories: memories.map(({ content }) => content) };
        }, abortSignal),
    }),
    forgetMemory: tool({
      description:
        'Permanently deletes one memory about the user. If several memories match, it deletes none and returns them with their ids. Then call it again with the memoryId of the right one.',
      inputSchema: inputs.forget,
      execute: (order, { abortSignal = new AbortController().signal }) =>
        softly(() => forgetMemory(deps, run.ownerId, order, abortSignal), abortSignal),
    }),
  };
}

interface ForgetOrder {
  readonly query: string;
  readonly memoryId?: string | undefined;
}

const mostCandidates = 5;
/** A short word such as "me" matches by chance. */
const leastCharacters = 3;

/**
 * Deletes a memory that the user wants to be forgotten. Only a clear match is deleted, because nothing brings it back. Throws if the
 * memory service does not answer.
 */
async function forgetMemory(deps: AgentContext, userId: string, order: ForgetOrder, signal: AbortSignal) {
  const candidates = await searchMemory(deps, userId, order.query, signal);
  const chosen = order.memoryId === undefined ? clearMatch(order.query, candidates)?.id : order.memoryId;
  if (chosen !== undefined && (await deleteMemory(deps, userId, chosen, signal))) {
    const forgotten = candidates.find(({ id }) => id === chosen)?.content ?? order.query;
    return { status: 'completed', memoryId: chosen, forgotten };
  }
  return { status: 'completed', candidates: candidates.slice(0, mostCandidates) };
}

/** The only memory that has all words of the query, or whose words are all in the query. */
export function clearMatch(query: string, candidates: readonly KnownMemory[]): KnownMemory | undefined {
  const queryWords = wordsOf(query);
  const equal = candidates.filter(({ content }) => wordsOf(content).join(' ') === queryWords.join(' '));
  const matching = equal.length > 0 ? equal : candidates.filter(({ content }) => matches(queryWords, wordsOf(content)));
  return matching.length === 1 ? matching[0] : undefined;
}

function matches(queryWords: readonly string[], known: readonly string[]): boolean {
  const [shorter, longer] = queryWords.length <= known.length ? [queryWords, known] : [known, queryWords];
  const words = new Set(longer);
  return shorter.join('').length >= leastCharacters && shorter.every((word) => words.has(word));
}

const word = /[\p{L}\p{M}\p{N}]+/gu;
const wordsOf = (text: string) => text.normalize('NFKC').toLowerCase().match(word) ?? [];
