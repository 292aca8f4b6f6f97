/** Chooses the pairs that the language model judges: each waiting memory with its nearest neighbors. */
import type { Entity } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { hashContent } from '../memories/contenthash.ts';
import { findDistinctions } from '../memories/distinctionstore.ts';
import { findMemories, type StoredMemory } from '../memories/memorystore.ts';
import { compare } from '../search/ranking.ts';
import type { Handle } from '../tables.ts';
import type { Pair } from './verdicts.ts';

const mostNeighbors = 5;
/** Unrelated texts are near 0.3. */
const leastSimilarity = 0.35;
/** Contents go to the model in full, so longer ones are left out. */
const longestJudgedBytes = 8192;
/** Of all memories of one call. */
const mostBytes = 65_536;

const bytesOf = ({ content }: StoredMemory) => Buffer.byteLength(content);
const isJudged = (memory: StoredMemory) => memory.invalidAt === null && bytesOf(memory) <= longestJudgedBytes;

/** Throws `embedder_unavailable`. Pairs that an undo separated are left out. */
export async function findPairs(
  deps: MemoryContext,
  entity: Entity,
  waiting: readonly StoredMemory[],
): Promise<readonly Pair[]> {
  const judged = waiting.filter(isJudged);
  const index = judged.length === 0 ? undefined : await deps.indexes.get(deps.db, entity);
  if (index === undefined) return [];
  const vectors = await deps.embedder.embed(judged.map(({ content }) => content));
  const pairs = new Map<string, Pair>();
  const sent = new Map<string, number>();
  for (const [place, memory] of judged.entries()) {
    const vector = vectors[place];
    if (vector === undefined) continue;
    const near = [...(await compare(deps.db, deps, entity, index, vector))]
      .filter(([id, similarity]) => id !== memory.id && similarity >= leastSimilarity)
      .toSorted(([, left], [, right]) => right - left)
      .slice(0, mostNeighbors);
    const rows = new Map(
      (
        await findMemories(
          deps.db,
          near.map(([id]) => id),
        )
      ).map((row) => [row.id, row]),
    );
    for (const [id, similarity] of near) {
      const other = rows.get(id);
      if (other === undefined || !isJudged(other)) continue;
      const pair = { ...inOrder(memory, other), similarity };
      const added = [memory, other].filter((one) => !sent.has(one.id));
      const bytes = [...sent.values(), ...added.map(bytesOf)].reduce((sum, size) => sum + size, 0);
      if (bytes > mostBytes || (await areDistinct(deps.db, pair))) continue;
      for (const one of added) sent.set(one.id, bytesOf(one));
      pairs.set(`${pair.newer.id} ${pair.older.id}`, pair);
    }
  }
  return [...pairs.values()];
}

/** The memory that was stated last is the newer one. */
export function inOrder(left: StoredMemory, right: StoredMemory): Pick<Pair, 'newer' | 'older'> {
  const difference =
    left.saidAt.getTime() - right.saidAt.getTime() ||
    left.updatedAt.getTime() - right.updatedAt.getTime() ||
    left.seq - right.seq;
  return difference > 0 ? { newer: left, older: right } : { newer: right, older: left };
}

/** Whether an undo has separated the two for good. */
export async function areDistinct(db: Handle, { newer, older }: Pick<Pair, 'newer' | 'older'>): Promise<boolean> {
  for (const type of new Set([newer.type, older.type])) {
    const distinct = await findDistinctions(db, older, type, hashContent(older.content));
    if (distinct.has(hashContent(newer.content).toString('hex'))) return true;
  }
  return false;
}
