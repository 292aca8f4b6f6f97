/**
 * Carries out verdicts, in one transaction under the lock of the entity. A verdict changes the two memories of its pair and
 * no other. It has no effect if one of them was edited since it was sent to the model, or if the older one was stated again.
 */
import { contentOf, mergedMetadata } from '../changes/adding.ts';
import { hasRoom } from '../changes/entitywrite.ts';
import type { JudgingContext, Writing } from '../context.ts';
import { insertRevision } from '../memories/historystore.ts';
import { findMemories, type StoredMemory, sizeOf, updateMetadata } from '../memories/memorystore.ts';
import { invalidate } from '../memories/validitystore.ts';
import { loadMerging } from '../merging/loading.ts';
import { areDistinct, inOrder } from './pairing.ts';
import type { Verdict } from './verdicts.ts';

/** The effect of the verdicts on a memory. */
export interface Judged {
  readonly action: 'merged' | 'replaced';
  /** The valid memory: of a merge the one that stays, of a replacement the newer one. */
  readonly id: string;
}

export interface Applied {
  /** By the id of the newer memory. */
  readonly results: ReadonlyMap<string, Judged>;
  /** Memories of verdicts that had no effect, because one of the two has changed. */
  readonly changed: ReadonlySet<string>;
}

export async function applyVerdicts(
  deps: JudgingContext,
  writing: Writing,
  verdicts: readonly Verdict[],
): Promise<Applied> {
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
      deps.modelMetrics.judged(kind);
    }
  }
  for (const { verdict } of verdicts) if (verdict === 'keep_both') deps.modelMetrics.judged(verdict);
  return { results, changed };
}

type FoundPair = Pick<Verdict, 'newer' | 'older'>;

/** Returns the pair as it is now, or `undefined` if one of the two is not valid any more, or if an undo has separated them. */
async function findValid({ tx }: Writing, { newer, older }: Verdict): Promise<FoundPair | undefined> {
  const rows = new Map((await findMemories(tx, [newer.id, older.id])).map((row) => [row.id, row]));
  const pair = { newer: rows.get(newer.id), older: rows.get(older.id) };
  if (!isValid(pair.newer) || !isValid(pair.older)) return undefined;
  const found = { newer: pair.newer, older: pair.older };
  return (await areDistinct(tx, found)) ? undefined : found;
}

function isValid(memory: StoredMemory | undefined): memory is StoredMemory {
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
  { tx, version, recordChange }: Writing,
  replaced: StoredMemory,
  by: StoredMemory,
  { reason, similarity }: Verdict,
): Promise<Judged> {
  await invalidate(tx, replaced, by.id, version);
  await insertRevision(tx, replaced.id, {
    action: 'replace',
    actor: 'model',
    before: contentOf(replaced),
    after: contentOf(replaced),
    incoming: contentOf(by),
    similarity,
    embedder: deps.embedder.name,
    reason,
  });
  recordChange(replaced.type, by.type);
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
  const { isAtLeastAsFull } = await loadMerging();
  const isNewerFuller = isAtLeastAsFull(newer.content, older.content);
  const [staying, leaving] = isNewerFuller ? [newer, older] : [older, newer];
  const merged = { ...contentOf(staying), metadata: mergedMetadata(older.metadata, newer.metadata) };
  const fits = hasRoom(state, { memories: 0, bytes: sizeOf(merged) - staying.bytes });
  const after = fits ? merged : contentOf(staying);
  await insertRevision(tx, staying.id, {
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
    await updateMetadata(tx, staying, after.metadata, version);
  await replace(deps, writing, leaving, staying, verdict);
  return { action: 'merged', id: staying.id };
}
