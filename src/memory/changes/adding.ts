/** `POST /memory/add`: adds a memory, or merges it into one that exists (docs/specification/memory.md#adding). */
import {
  type Actor,
  type AdditionRequest,
  type Entity,
  largestMetadataBytes,
  type MemoryContent,
  type Metadata,
  toEntity,
} from '../api.ts';
import type { MemoryContext, Writing } from '../context.ts';
import { embedOne } from '../embedding/embedder.ts';
import * as store from '../memories/memorystore.ts';
import { memoryProblems } from '../problems.ts';
import { hashContent } from '../text.ts';
import { hasRoom, writeEntity } from './entitywrite.ts';

export interface Added {
  readonly memory: store.StoredMemory;
  /** The request was merged into an existing memory. */
  readonly deduplicated: boolean;
  /** `restored`: it had been replaced, and is valid again. `repeated`: it was there word for word. */
  readonly outcome: 'added' | 'restored' | 'merged' | 'repeated';
}

/**
 * Throws 503 `embedder_unavailable`, 409 `memory_full` and `memory_paused`, and then writes nothing. A repeated call with
 * the same content adds no second row.
 */
export async function addMemory(deps: MemoryContext, actor: Actor, request: AdditionRequest): Promise<Added> {
  const entity = toEntity(request);
  const { content, type, metadata = {} } = request;
  const saidAt = new Date(request.said_at ?? Date.now());
  const embedding = await embedOne(deps.embedder, content);
  const incoming: store.NewMemory = {
    type,
    content,
    hash: hashContent(content),
    metadata,
    embedder: deps.embedder.name,
    embedding,
    saidAt,
    origin: { addedBy: actor, threadId: request.thread_id ?? null },
  };
  await deps.indexes.warm(deps.db, entity);
  return writeEntity(deps, entity, (writing) => addOrMerge(deps, writing, actor, entity, incoming), { adds: true });
}

async function addOrMerge(
  deps: MemoryContext,
  writing: Writing,
  actor: Actor,
  entity: Entity,
  incoming: store.NewMemory,
): Promise<Added> {
  const { tx, version, state } = writing;
  const equal = await store.findByHash(tx, entity, incoming.type, incoming.hash);
  if (equal !== undefined && equal.invalidAt !== null) return restore(deps, writing, actor, equal, incoming);
  if (equal !== undefined) return merge(deps, writing, actor, equal, incoming, 1);
  const { findNeighbours } = await import('../merging/finding.ts');
  const index = await deps.indexes.getLocked(tx, entity, state);
  const { twin, links, corrected } = await findNeighbours(deps, tx, entity, index, incoming);
  if (twin !== undefined) return merge(deps, writing, actor, twin.memory, incoming, twin.similarity);
  if (!hasRoom(state, { memories: 1, bytes: store.sizeOf(incoming) })) throw memoryProblems.memory_full();
  const memory = await store.insertMemory(tx, deps.column, entity, incoming, version);
  await store.insertLinks(tx, memory.id, links);
  await correct(deps, writing, actor, memory, corrected);
  writing.recordChange(incoming.type);
  await deps.requestJudgement?.(writing, memory);
  return { memory, deduplicated: false, outcome: 'added' };
}

/** Replaces the memories that a new one corrects, unless their time is later. */
async function correct(
  deps: MemoryContext,
  writing: Writing,
  actor: Actor,
  memory: store.StoredMemory,
  ids: readonly string[],
): Promise<void> {
  const decision = { actor, similarity: null, reason: 'A newer statement corrects it.' };
  for (const older of ids.length === 0 ? [] : (await store.findMemories(writing.tx, ids)).values())
    if (older.saidAt <= memory.saidAt) await replaceMemory(deps, writing, older, memory, decision);
}

/** The replaced memory stays in the history, and an undo makes it valid again. */
export async function replaceMemory(
  { embedder }: MemoryContext,
  { tx, version }: Writing,
  replaced: store.StoredMemory,
  by: store.StoredMemory,
  decision: { readonly actor: Actor; readonly similarity: number | null; readonly reason: string },
): Promise<void> {
  await store.invalidate(tx, replaced, by.id, version);
  await store.insertRevision(tx, replaced.id, {
    action: 'replace',
    before: contentOf(replaced),
    after: contentOf(replaced),
    incoming: contentOf(by),
    embedder: embedder.name,
    ...decision,
  });
}

/** Makes a replaced memory valid, because its content was added again. */
async function restore(
  deps: MemoryContext,
  writing: Writing,
  actor: Actor,
  replaced: store.StoredMemory,
  incoming: store.NewMemory,
): Promise<Added> {
  const valid = await store.revalidate(writing.tx, replaced, writing.version);
  const { memory } = await merge(deps, writing, actor, valid, incoming, 1);
  await deps.requestJudgement?.(writing, memory);
  return { memory, deduplicated: true, outcome: 'restored' };
}

/**
 * Retains the fuller content, or the newer one if both are equally full. The history records the other one. If the entity
 * has no room for the result, the existing content stays.
 */
async function merge(
  deps: MemoryContext,
  { tx, version, state, recordChange }: Writing,
  actor: Actor,
  known: store.StoredMemory,
  incoming: store.NewMemory,
  similarity: number,
): Promise<Added> {
  if (incoming.content === known.content && addsNothing(known.metadata, incoming.metadata)) {
    // A repeated addition becomes the newest.
    recordChange(known.type);
    const memory = await store.updateMetadata(tx, known, known.metadata, version, latest(known, incoming));
    return { memory, deduplicated: true, outcome: 'repeated' };
  }
  const metadata = mergedMetadata(known.metadata, incoming.metadata);
  const { isAtLeastAsFull } = await import('../merging/finding.ts');
  const isFuller = isAtLeastAsFull(incoming.content, known.content);
  const merged = { content: isFuller ? incoming.content : known.content, type: known.type, metadata };
  const fits = hasRoom(state, { memories: 0, bytes: store.sizeOf(merged) - known.bytes });
  const after: MemoryContent = fits ? merged : contentOf(known);
  await store.insertRevision(tx, known.id, {
    action: 'merge',
    actor,
    before: contentOf(known),
    after,
    incoming: contentOf(incoming),
    similarity,
    embedder: incoming.embedder,
  });
  const memory =
    fits && isFuller
      ? await store.updateMemory(
          tx,
          deps.column,
          known,
          { ...incoming, metadata, ...latest(known, incoming) },
          { version },
        )
      : await store.updateMetadata(tx, known, after.metadata, version, latest(known, incoming));
  recordChange(known.type);
  return { memory, deduplicated: true, outcome: 'merged' };
}

/** The later one of the two statements. */
function latest({ saidAt: known }: store.StoredMemory, { saidAt = known, origin }: store.NewMemory): store.Statement {
  return saidAt > known ? { saidAt, origin } : { saidAt: undefined, origin: undefined };
}

export function contentOf({ content, type, metadata }: MemoryContent | store.StoredMemory): MemoryContent {
  return { content, type, metadata };
}

function addsNothing(known: Metadata, incoming: Metadata): boolean {
  return Object.entries(incoming).every(
    ([key, value]) => Object.hasOwn(known, key) && JSON.stringify(known[key]) === JSON.stringify(value),
  );
}

/** Newer keys win. If the result is too large, only the newer metadata stay. The history records the older ones. */
export function mergedMetadata(known: Metadata, incoming: Metadata): Record<string, unknown> {
  const merged = { ...known, ...incoming };
  const isTooLarge = Buffer.byteLength(JSON.stringify(merged)) > largestMetadataBytes;
  return isTooLarge ? { ...incoming } : merged;
}
