/**
 * Looks among an entity's memories of one type for the one that a content is to be merged into, and for those that it
 * stands against. The entity is locked meanwhile, so that of two alike contents at once the second finds the first.
 */

import { createPacer } from '#platform/concurrency/pacing.ts';
import type { Tx } from '#platform/db/db.ts';
import type { Entity, MemoryType } from '../api.ts';
import type { CalibratedEmbedder } from '../embedding/calibration.ts';
import { longestInput } from '../embedding/remote.ts';
import type { EntityIndexes } from '../entityindex.ts';
import type { Link } from '../history/store.ts';
import { compare } from '../ranking.ts';
import { findMemories, type MemoryTables, type StoredMemory } from '../store.ts';
import type { VectorColumn } from '../vectors.ts';
import { isSameBut, judge, readsTheSame, type Verdict } from './judging.ts';
import { type Reading, read } from './reading.ts';

export interface FindingDeps {
  readonly column: VectorColumn;
  readonly embedder: CalibratedEmbedder;
  readonly indexes: EntityIndexes;
  /** Merged when similarity exceeds this (docs/specification/memory.md#adding). */
  readonly mergeAbove: number;
}

export interface Neighbours {
  readonly twin: { readonly memory: StoredMemory; readonly similarity: number } | undefined;
  /** To be kept beside a memory of its own. */
  readonly links: readonly Link[];
}

/** From here on a pair is worth an operator's eye, if it differs in what must not differ. */
const linkAbove = 0.75;
/** Below this no pair is read: numbers and dates alone can take wordings of one fact so far apart. */
const readAbove = 0.5;
const mostCandidates = 20;

export async function findNeighbours(
  deps: FindingDeps,
  tx: Tx<MemoryTables>,
  entity: Entity,
  lockVersion: number,
  sought: {
    readonly content: string;
    readonly type: MemoryType;
    readonly embedding: Float32Array;
    /** Of the memory that is being edited. */
    readonly exceptId?: string;
  },
): Promise<Neighbours> {
  const index = await deps.indexes.lookLocked(tx, entity, lockVersion);
  if (index === undefined) return { twin: undefined, links: [] };
  const similarities = await compare({ ...deps, db: tx }, entity, index, sought.embedding);
  const near = [...similarities]
    .filter(([id, similarity]) => similarity > readAbove && id !== sought.exceptId)
    .filter(([id]) => index.memories.get(id)?.type === sought.type)
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, mostCandidates);
  if (near.length === 0) return { twin: undefined, links: [] };
  const rows = new Map(
    (
      await findMemories(
        tx,
        near.map(([id]) => id),
      )
    ).map((memory) => [memory.id, memory]),
  );

  const pace = createPacer();
  const reading = read(sought.content);
  let twin: Neighbours['twin'];
  const links: Link[] = [];
  for (const [id, similarity] of near) {
    const memory = rows.get(id);
    if (memory === undefined) continue;
    const lexical = deps.embedder.lexical || Math.max(sought.content.length, memory.content.length) > longestInput;
    await pace();
    const other = read(memory.content);
    const verdict = judge(reading, other, lexical);
    if (verdict === 'same' && (similarity > deps.mergeAbove || readsTheSame(reading, other)))
      twin ??= { memory, similarity };
    const kind = linkOf(verdict, similarity, deps.mergeAbove, [reading, other]);
    if (kind !== undefined) links.push({ id, kind });
  }
  return { twin, links };
}

function linkOf(
  verdict: Verdict,
  similarity: number,
  mergeAbove: number,
  [left, right]: readonly [Reading, Reading],
): Link['kind'] | undefined {
  if (verdict === 'negation' || verdict === 'number' || verdict === 'date')
    return similarity > linkAbove || isSameBut(left, right, verdict) ? 'conflict' : undefined;
  if (verdict === 'roles' && similarity > linkAbove) return 'conflict';
  return similarity > mergeAbove ? 'related' : undefined;
}
