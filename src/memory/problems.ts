import { defineProblems } from '#platform/problem.ts';

/** docs/specification/memory.md. */
export const memoryProblems = defineProblems({
  duplicate_memory: { status: 409, message: 'Another memory of this entity and type already has this content.' },
  memory_full: {
    status: 409,
    message: 'This entity has reached its limit of memories. Delete or shorten a memory before you add another.',
  },
  memory_paused: { status: 409, message: 'The memory of this entity is paused, so nothing was stored.' },
  nothing_to_undo: { status: 409, message: 'This memory has no changes to undo.' },
  model_unavailable: {
    status: 503,
    message: 'No language model is configured to extract memories, or it is not responding. Try again later.',
    retryAfterS: 5,
  },
  model_calls_used_up: {
    status: 429,
    message: 'This entity has reached its daily limit of language model calls. Try again tomorrow.',
    retryAfterS: 3600,
  },
  embedder_unavailable: {
    status: 503,
    message: 'The embedder is not responding, so nothing was written. Try again later.',
    retryAfterS: 2,
  },
});
