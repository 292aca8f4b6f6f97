/**
 * The judge (docs/specification/memory.md#judging): a language model compares each new memory with its neighbors, after the
 * addition was answered. A memory waits in a row that the addition writes, and a job of its entity sends several at once.
 */

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { transaction } from '#platform/db/db.ts';
import type { Job, Queue } from '#platform/jobs/jobs.ts';
import { isStorableText } from '#platform/storable.ts';
import type { Entity } from '../api.ts';
import { contentOf, mergedMetadata, replaceMemory } from '../changes/adding.ts';
import { hasRoom, writeEntity } from '../changes/entitywrite.ts';
import type { JudgingContext, MemoryContext, Writing } from '../context.ts';
import { EntityErased, readTime, type Since } from '../memories/entitystore.ts';
import * as store from '../memories/memorystore.ts';
import { CallsUsedUp, callModel } from '../model/callstore.ts';
import { AnswerRejected, type Question } from '../model/languagemodel.ts';
import { compare } from '../search/searching.ts';
import type { Handle } from '../tables.ts';
import { hashContent } from '../text.ts';
import * as judgements from './judgementstore.ts';

const payload = z.object({ key: z.string() });
/** If the last attempt fails too, the memories wait for a retry by an operator, or for the next addition to the entity. */
export const judgingQueue: Queue<z.output<typeof payload>> = {
  name: 'memory/judge',
  payload,
  maxAttempts: 6,
  retryAfterMs: 5_000,
};

const atOnce = 8;
const defaultDelayMs = 2_000;

/** Longer than the caller of an addition takes to judge it. */
const reservedMs = 180_000;

/** For the context: a job judges what is added. */
export function requestJudgement(
  deps: Omit<JudgingContext, 'requestJudgement'>,
): NonNullable<MemoryContext['requestJudgement']> {
  const delayMs = deps.judgingDelayMs ?? defaultDelayMs;
  return async ({ tx }, memory) => {
    const key = await judgements.findJudgingKey(tx, memory);
    // Only the job waits, so that it takes all memories that came until it starts.
    await judgements.insertJudgement(tx, memory.id, 0);
    await deps.jobs.enqueue(tx, judgingQueue, { key }, { key, delayMs });
  };
}

/** For the context: the caller judges what it adds. If it dies, a job does. */
export function reserveJudgement({ jobs }: JudgingContext): NonNullable<MemoryContext['requestJudgement']> {
  return async ({ tx }, memory) => {
    const key = await judgements.findJudgingKey(tx, memory);
    await judgements.insertJudgement(tx, memory.id, reservedMs);
    // A key of its own, because a job that starts late must not hold up the one for other additions.
    await jobs.enqueue(tx, judgingQueue, { key }, { key: `${key} reserved`, delayMs: reservedMs });
  };
}

export function workOnJudgements(deps: JudgingContext): void {
  deps.jobs.work(judgingQueue, (job) => judgeEntity(deps, job), { concurrency: 2 });
}

async function judgeEntity(deps: JudgingContext, job: Job<z.output<typeof payload>>): Promise<void> {
  const { key } = job.payload;
  const entity = await judgements.findByJudgingKey(deps.db, key);
  if (entity === undefined) return;
  do {
    try {
      while ((await judgeWaiting(deps, entity, undefined, job.signal)) !== undefined) job.signal.throwIfAborted();
    } catch (error) {
      job.signal.throwIfAborted();
      if (!(error instanceof CallsUsedUp)) throw error;
      deps.log.warn({ err: error }, 'new memories cannot be judged now');
      return;
    }
  } while (!(await finish(deps, job, key)));
}

/** Completes the job unless more is due. The lock excludes an addition that would find the job unfinished. */
function finish({ db, jobs }: JudgingContext, job: Job<unknown>, key: string): Promise<boolean> {
  return transaction(db, async (tx) => {
    const entity = await judgements.lockByJudgingKey(tx, key);
    const dueInMs = entity && (await judgements.findNextDue(tx, entity));
    if (dueInMs !== undefined && dueInMs <= 0) return false;
    await job.complete(tx);
    if (dueInMs !== undefined) await jobs.enqueue(tx, judgingQueue, { key }, { key, delayMs: Math.ceil(dueInMs) });
    return true;
  });
}

export type Judgements = ReadonlyMap<string, Judged>;

/**
 * Judges memories that wait: those of `ids`, or at most eight that are due. Returns `undefined` if none waits. Rejects
 * if the model fails, with CallsUsedUp, or with `embedder_unavailable`; then they still wait.
 */
export async function judgeWaiting(
  deps: JudgingContext,
  entity: Entity,
  ids: readonly string[] | undefined,
  signal?: AbortSignal,
): Promise<Judgements | undefined> {
  const since = await readTime(deps.db);
  const waiting = await judgements.findWaiting(deps.db, entity, ids?.length ?? atOnce, ids);
  if (waiting.length === 0) return undefined;
  const pairs = await findPairs(deps, entity, waiting);
  try {
    const verdicts = pairs.length === 0 ? [] : await requestVerdicts(deps, entity, pairs, since, signal);
    return await settle({ ...deps, since }, entity, waiting, verdicts);
  } catch (error) {
    if (error instanceof EntityErased) return new Map();
    throw error;
  }
}

async function requestVerdicts(
  deps: JudgingContext,
  entity: Entity,
  pairs: Parameters<typeof questionOf>[0],
  since: Since,
  signal: AbortSignal | undefined,
): Promise<readonly Verdict[]> {
  try {
    const { answer } = await callModel(deps, 'judge', entity, questionOf(pairs), since, signal);
    return verdictsOf(pairs, answer);
  } catch (error) {
    if (!(error instanceof AnswerRejected)) throw error;
    // Another call could be answered in the same way.
    deps.log.warn(
      { err: error, pairs: pairs.length },
      'new memories stay unchanged, because the answer of the model is unusable',
    );
    return [];
  }
}

/** Throws EntityErased. */
function settle(
  deps: JudgingContext,
  entity: Entity,
  waiting: readonly store.StoredMemory[],
  verdicts: readonly Verdict[],
): Promise<Judgements> {
  const ids = waiting.map(({ id }) => id);
  return writeEntity(deps, entity, async (writing) => {
    // If the memories were deleted, so may have been the row of the entity, and the lock must not bring it back.
    if ((await store.findMemories(writing.tx, ids)).size === 0) throw new EntityErased();
    const { results, changed } = await applyVerdicts(deps, writing, verdicts);
    // The next judgement of a memory that has changed reads its present content.
    await judgements.deleteJudgements(
      writing.tx,
      ids.filter((id) => !changed.has(id)),
    );
    return results;
  });
}

// Carries out verdicts, in one transaction under the lock of the entity. A verdict changes the two memories of its pair and
// no other. It has no effect if one of them was edited since it was sent to the model, or if the older one was stated again.

/** The effect of the verdicts on a memory. */
interface Judged {
  readonly action: 'merged' | 'replaced';
  /** The valid memory: of a merge the one that stays, of a replacement the newer one. */
  readonly id: string;
}

interface Applied {
  /** By the id of the newer memory. */
  readonly results: ReadonlyMap<string, Judged>;
  /** Memories of verdicts that had no effect, because one of the two has changed. */
  readonly changed: ReadonlySet<string>;
}

async function applyVerdicts(deps: JudgingContext, writing: Writing, verdicts: readonly Verdict[]): Promise<Applied> {
  const results = new Map<string, Judged>();
  const changed = new Set<string>();
  // A memory that is merged away first could replace nothing.
  for (const kind of ['replaces', 'same'] as const) {
    for (const verdict of verdicts.filter((one) => one.verdict === kind)) {
      const pair = await findValid(writing, verdict);
      if (pair === undefined) continue;
      if (hasChanged(pair, verdict)) {
        changed.add(pair.newer.id).add(pair.older.id);
        continue;
      }
      const isReplaced = kind === 'replaces';
      if (!isReplaced && pair.newer.type !== pair.older.type) continue;
      const judged = isReplaced
        ? await replace(deps, writing, pair.older, pair.newer, verdict)
        : await merge(deps, writing, pair, verdict);
      results.set(pair.newer.id, judged);
    }
  }
  return { results, changed };
}

type FoundPair = Pick<Verdict, 'newer' | 'older'>;

/** Returns the pair as it is now, or `undefined` if one of the two is not valid any more, or if an undo has separated them. */
async function findValid({ tx }: Writing, { newer, older }: Verdict): Promise<FoundPair | undefined> {
  const rows = await store.findMemories(tx, [newer.id, older.id]);
  const pair = { newer: rows.get(newer.id), older: rows.get(older.id) };
  if (!isValid(pair.newer) || !isValid(pair.older)) return undefined;
  const found = { newer: pair.newer, older: pair.older };
  return (await areDistinct(tx, found)) ? undefined : found;
}

function isValid(memory: store.StoredMemory | undefined): memory is store.StoredMemory {
  return memory !== undefined && memory.invalidAt === null;
}

function hasChanged(now: FoundPair, seen: FoundPair): boolean {
  const isEdited = (['newer', 'older'] as const).some(
    (one) => now[one].content !== seen[one].content || now[one].type !== seen[one].type,
  );
  return isEdited || inOrder(now.newer, now.older).newer.id !== now.newer.id;
}

async function replace(
  deps: JudgingContext,
  writing: Writing,
  replaced: store.StoredMemory,
  by: store.StoredMemory,
  { reason, similarity }: Verdict,
): Promise<Judged> {
  await replaceMemory(deps, writing, replaced, by, { actor: 'model', similarity, reason });
  writing.recordChange(replaced.type, by.type);
  return { action: 'replaced', id: by.id };
}

/** The fuller one stays, or the newer one if both are equally full. It gets the metadata of both. */
async function merge(
  deps: JudgingContext,
  writing: Writing,
  { newer, older }: FoundPair,
  verdict: Verdict,
): Promise<Judged> {
  const { tx, version, state } = writing;
  const { isAtLeastAsFull } = await import('../merging/finding.ts');
  const isNewerFuller = isAtLeastAsFull(newer.content, older.content);
  const [staying, leaving] = isNewerFuller ? [newer, older] : [older, newer];
  const merged = { ...contentOf(staying), metadata: mergedMetadata(older.metadata, newer.metadata) };
  const fits = hasRoom(state, { memories: 0, bytes: store.sizeOf(merged) - staying.bytes });
  const after = fits ? merged : contentOf(staying);
  await store.insertRevision(tx, staying.id, {
    action: 'merge',
    actor: 'model',
    before: contentOf(staying),
    after,
    incoming: contentOf(leaving),
    similarity: verdict.similarity,
    embedder: deps.embedder.name,
    reason: verdict.reason,
  });
  // The fact was stated when the newer one was, so an older one that stays moves up.
  if (staying === older || JSON.stringify(after.metadata) !== JSON.stringify(staying.metadata))
    await store.updateMetadata(tx, staying, after.metadata, version);
  await replace(deps, writing, leaving, staying, verdict);
  return { action: 'merged', id: staying.id };
}

// Chooses the pairs that the language model judges: each waiting memory with its nearest neighbors.

const mostNeighbors = 5;
/** Unrelated texts are near 0.3. */
const leastSimilarity = 0.35;
/** Contents go to the model in full, so longer ones are left out. */
const longestJudgedBytes = 8192;
/** Of all memories of one call. */
const mostBytes = 65_536;

const bytesOf = ({ content }: store.StoredMemory) => Buffer.byteLength(content);
const isJudged = (memory: store.StoredMemory) => memory.invalidAt === null && bytesOf(memory) <= longestJudgedBytes;

/** Throws `embedder_unavailable`. Pairs that an undo separated are left out. */
async function findPairs(
  deps: MemoryContext,
  entity: Entity,
  waiting: readonly store.StoredMemory[],
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
    const ids = near.map(([id]) => id);
    const rows = await store.findMemories(deps.db, ids);
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
function inOrder(left: store.StoredMemory, right: store.StoredMemory): Pick<Pair, 'newer' | 'older'> {
  const difference =
    left.saidAt.getTime() - right.saidAt.getTime() ||
    left.updatedAt.getTime() - right.updatedAt.getTime() ||
    left.seq - right.seq;
  return difference > 0 ? { newer: left, older: right } : { newer: right, older: left };
}

/** Whether an undo has separated the two for good. */
async function areDistinct(db: Handle, { newer, older }: Pick<Pair, 'newer' | 'older'>): Promise<boolean> {
  for (const type of new Set([newer.type, older.type])) {
    const distinct = await store.findDistinctions(db, older, type, hashContent(older.content));
    if (distinct.has(hashContent(newer.content).toString('hex'))) return true;
  }
  return false;
}

// What the language model is asked about pairs of memories, and how its answer is checked.

export interface Pair {
  readonly newer: store.StoredMemory;
  readonly older: store.StoredMemory;
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
function verdictsOf(pairs: readonly Pair[], { verdicts }: Answer): readonly Verdict[] {
  const found = new Map(verdicts.map((one) => [keyOf(one.newer_id, one.older_id), one]));
  return pairs.flatMap((pair) => {
    const one = found.get(keyOf(pair.newer.id, pair.older.id));
    if (one === undefined) return [];
    return [{ ...pair, verdict: one.verdict, reason: [...one.reason].slice(0, longestReason).join('') }];
  });
}
