import { tool, zodSchema } from 'ai';
import { z } from 'zod';
import { addMemory, type MemoryDeps, MemoryFull, searchMemory } from '../services/memory.ts';
import type { ToolContext } from './context.ts';
import { forgetMemory } from './forgetting.ts';

export type MemoryToolDeps = MemoryDeps;

const unavailable = {
  status: 'failed',
  failure: { code: 'memory_unavailable', message: 'The memory service is not responding right now.', retryable: true },
} as const;

const full = {
  status: 'failed',
  failure: { code: 'memory_full', message: 'The memory is full.', retryable: false },
} as const;

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

export function memoryTools(deps: MemoryToolDeps, { run }: ToolContext) {
  /** If the memory service fails, the turn continues without it. */
  const softly = async <T>(work: () => Promise<T>, signal: AbortSignal) => {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MemoryFull) return full;
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
          const { id, deduplicated } = await addMemory(deps, run.ownerId, content, type, abortSignal);
          return { status: 'completed', memoryId: id, deduplicated, content };
        }, abortSignal),
    }),
    recallMemory: tool({
      description: 'Searches the stored facts about the user.',
      inputSchema: inputs.recall,
      execute: ({ query }, { abortSignal = new AbortController().signal }) =>
        softly(async () => {
          const memories = await searchMemory(deps, run.ownerId, query, abortSignal);
          return { status: 'completed', memories };
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
