/**
 * Finds the memory that a content is merged into, and those that it conflicts with, among an entity's memories of one
 * type. The writer holds the lock of the entity, or compares its version when it writes, so that the second of two
 * concurrent similar contents finds the first.
 */

import { createPacer } from '#platform/concurrency/pacing.ts';
import type { Entity, LinkKind, MemoryType } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { hashContent } from '../memories/contenthash.ts';
import { findDistinctions } from '../memories/distinctionstore.ts';
import type { Link } from '../memories/historystore.ts';
import { findContents, findMemory, type StoredMemory } from '../memories/memorystore.ts';
import type { EntityIndex } from '../search/entityindex.ts';
import { compare } from '../search/ranking.ts';
import type { Handle } from '../tables.ts';
import { corrects, isCorrection } from './corrections.ts';
import { fullness, isNegated, isSameBut, isSameButOpposites, judge, readsTheSame, type Verdict } from './judging.ts';
import { type Draft, draft, type Reading, read, readTogether } from './reading.ts';

export interface Neighbours {
  readonly twin: { readonly memory: StoredMemory; readonly similarity: number } | undefined;
  /** Links to store with a new memory. */
  readonly links: readonly Link[];
  /** The memories that the content corrects. */
  readonly corrected: readonly string[];
}

/**
 * Pairs below this similarity are not compared. Numbers and dates alone can take phrasings of one fact this far apart.
 */
const readAbove = 0.5;
const mostCandidates = 20;

/** `index`: the present memories of the entity. */
export async function findNeighbours(
  deps: MemoryContext,
  db: Handle,
  entity: Entity,
  index: EntityIndex,
  sought: {
    readonly content: string;
    readonly type: MemoryType;
    readonly embedding: Float32Array;
    /** The memory that is being edited. */
    readonly exceptId?: string;
  },
): Promise<Neighbours> {
  const similarities = await compare(db, deps, entity, index, sought.embedding);
  const isCorrecting = isCorrection(sought.content);
  const near = [...similarities]
    .filter(([id, similarity]) => similarity > (isCorrecting ? 0 : readAbove) && id !== sought.exceptId)
    .filter(([id]) => index.memories.get(id)?.type === sought.type)
    .sort(([, left], [, right]) => right - left)
    .slice(0, mostCandidates);
  if (near.length === 0) return { twin: undefined, links: [], corrected: [] };
  const contents = await findContents(
    db,
    near.map(([id]) => id),
  );

  let distinct: ReadonlySet<string> | undefined;
  const readDistinctions = () => findDistinctions(db, entity, sought.type, hashContent(sought.content));
  const pace = createPacer();
  const soughtDraft = draft(sought.content);
  let twin: Neighbours['twin'];
  const links: Link[] = [];
  const corrected: string[] = [];
  for (const [id, similarity] of near) {
    const content = contents.get(id);
    if (content === undefined) continue;
    await pace();
    const { mergeAbove } = deps;
    const isJudged = deps.requestJudgement !== undefined;
    const { isTwin, link, isNegation } = comparePair(soughtDraft, draft(content), { similarity, mergeAbove, isJudged });
    if (isTwin && twin === undefined) {
      distinct ??= await readDistinctions();
      const memory = distinct.has(hashContent(content).toString('hex')) ? undefined : await findMemory(db, id);
      if (memory !== undefined) twin = { memory, similarity };
    }
    if (isCorrecting && corrects(sought.content, content, isNegation)) corrected.push(id);
    else if (link !== undefined) links.push({ id, kind: link });
  }
  return { twin, links, corrected };
}

/** Whether a content is at least as full as another one. */
export function isAtLeastAsFull(content: string, other: string): boolean {
  return fullness(read(content)) >= fullness(read(other));
}

interface ComparingOptions {
  /** Calibrated. */
  readonly similarity: number;
  /** Contents merge above this similarity (docs/specification/memory.md#adding). */
  readonly mergeAbove: number;
  /** A language model compares them later, so that only equal statements merge now. */
  readonly isJudged?: boolean;
}

interface Comparison {
  /** The two can be one memory. */
  readonly isTwin: boolean;
  /** The link that two memories get. */
  readonly link: LinkKind | undefined;
  /** Apart from a negation, both say the same. */
  readonly isNegation: boolean;
}

/** Above this similarity, operators see a link between contents that contradict each other. */
const linkAbove = 0.75;

/** What two contents of one entity and type are to each other: one memory, two linked ones, or two. */
export function comparePair(left: Draft, right: Draft, options: ComparingOptions): Comparison {
  const readings = readTogether(left, right);
  const verdict = judge(...readings);
  const isNear = options.similarity > options.mergeAbove && options.isJudged !== true;
  return {
    isTwin: verdict === 'same' && (isNear || readsTheSame(...readings)),
    link: linkOf(verdict, options, readings),
    isNegation: verdict === 'negation' && isNegated(...readings),
  };
}

function linkOf(
  verdict: Verdict,
  { similarity, mergeAbove }: ComparingOptions,
  [left, right]: readonly [Reading, Reading],
): LinkKind | undefined {
  const isNear = similarity > linkAbove;
  if (verdict === 'negation') return isNear || isNegated(left, right) ? 'conflict' : undefined;
  if (verdict === 'number' || verdict === 'date')
    return isNear || isSameBut(left, right, verdict) ? 'conflict' : undefined;
  if (verdict === 'opposite') return isNear || isSameButOpposites(left, right) ? 'conflict' : undefined;
  if (verdict === 'roles' && isNear) return 'conflict';
  return similarity > mergeAbove ? 'related' : undefined;
}
