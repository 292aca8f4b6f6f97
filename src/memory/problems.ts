import { defineProblems } from '#platform/problem.ts';

/** docs/specification/memory.md. */
export const memoryProblems = defineProblems({
  duplicate_memory: { status: 409, message: 'Another memory of this entity and type has this content.' },
  memory_full: {
    status: 409,
    message: 'This entity holds as much as is allowed. Delete or shorten a memory before you add another.',
  },
  nothing_to_undo: { status: 409, message: 'There is no change of this memory left to undo.' },
  model_unavailable: {
    status: 503,
    message: 'There is no language model that extracts memories, or it does not answer right now.',
    retryAfterS: 5,
  },
  model_calls_used_up: {
    status: 429,
    message: 'The language model was called for this entity as often as is allowed for one day.',
    retryAfterS: 3600,
  },
  embedder_unavailable: {
    status: 503,
    message: 'The embedder does not answer right now; nothing was written.',
    retryAfterS: 2,
  },
});
