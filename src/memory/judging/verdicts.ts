/** What the language model is asked about pairs of memories, and how its answer is checked. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import type { StoredMemory } from '../memories/memorystore.ts';
import type { Question } from '../model/languagemodel.ts';

export interface Pair {
  readonly newer: StoredMemory;
  readonly older: StoredMemory;
  readonly similarity: number;
}

export interface Verdict extends Pair {
  readonly verdict: 'keep_both' | 'same' | 'replaces';
  readonly reason: string;
}

const instructions = readFileSync(new URL('./instructions.md', import.meta.url), 'utf8');
const longestReason = 500;

const answerShape = z.strictObject({
  verdicts: z.array(
    z.strictObject({
      newer_id: z.string(),
      older_id: z.string(),
      verdict: z.enum(['keep_both', 'same', 'replaces']),
      reason: z.string().refine(isStorableText),
    }),
  ),
});
type Answer = z.output<typeof answerShape>;

const keyOf = (newerId: string, olderId: string) => `${newerId} ${olderId}`;

/** The answer is rejected as a whole if it judges another pair than these, or one pair twice. */
export function questionOf(pairs: readonly Pair[]): Question<Answer> {
  const requestedKeys = new Set(pairs.map(({ newer, older }) => keyOf(newer.id, older.id)));
  const memories = new Map(pairs.flatMap(({ newer, older }) => [newer, older]).map((memory) => [memory.id, memory]));
  return {
    name: 'judge_memories',
    instructions,
    data: {
      memories: [...memories.values()].map(({ id, type, content, saidAt }) => ({
        id,
        type,
        stated_at: saidAt.toISOString(),
        content,
      })),
      pairs: pairs.map(({ newer, older }) => ({ newer_id: newer.id, older_id: older.id })),
    },
    answer: answerShape.superRefine(({ verdicts }, context) => {
      const seen = new Set<string>();
      for (const { newer_id, older_id } of verdicts) {
        const key = keyOf(newer_id, older_id);
        if (!requestedKeys.has(key) || seen.has(key)) context.addIssue('it judges a pair that was not sent');
        seen.add(key);
      }
    }),
  };
}

/** A pair that the answer leaves out is not changed. */
export function verdictsOf(pairs: readonly Pair[], { verdicts }: Answer): readonly Verdict[] {
  const found = new Map(verdicts.map((one) => [keyOf(one.newer_id, one.older_id), one]));
  return pairs.flatMap((pair) => {
    const one = found.get(keyOf(pair.newer.id, pair.older.id));
    if (one === undefined) return [];
    return [{ ...pair, verdict: one.verdict, reason: [...one.reason].slice(0, longestReason).join('') }];
  });
}
