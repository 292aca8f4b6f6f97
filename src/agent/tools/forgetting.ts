/** Deletes a memory that the user wants to be forgotten. Only a clear match is deleted, because nothing brings it back. */
import { deleteMemory, findMemories, type KnownMemory, type MemoryDeps } from '../services/memory.ts';

export interface ForgetOrder {
  readonly query: string;
  readonly memoryId?: string | undefined;
}

const mostCandidates = 5;
/** A short word such as "me" matches by chance. */
const leastCharacters = 3;

/** Throws if the memory service does not answer. */
export async function forgetMemory(deps: MemoryDeps, userId: string, order: ForgetOrder, signal: AbortSignal) {
  const candidates = await findMemories(deps, userId, order.query, signal);
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
