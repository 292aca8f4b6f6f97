/** `POST /memory/add`: a new memory, or one that was there and now says it too (docs/specification/memory.md#adding). */
import type { Wording } from './admin/api.ts';
import { type AdditionRequest, type Entity, largestMetadataBytes, type Metadata } from './api.ts';
import { embedOne } from './embedding/embedder.ts';
import { type Actor, insertLinks, insertRevision } from './history/store.ts';
import { type FindingDeps, findNeighbours } from './merging/finding.ts';
import { fullness } from './merging/judging.ts';
import { hashContent } from './merging/normalising.ts';
import { read } from './merging/reading.ts';
import { memoryProblems } from './problems.ts';
import {
  findByHash,
  type Inscription,
  insertMemory,
  type StoredMemory,
  sizeOf,
  updateMemory,
  updateMetadata,
} from './store.ts';
import { hasRoom, type Writing, type WritingDeps, writeEntity } from './writing.ts';

export interface AddingDeps extends WritingDeps, FindingDeps {}

export interface Added {
  readonly memory: StoredMemory;
  /** It was merged into one that was there. */
  readonly deduplicated: boolean;
}

/** Throws 503 `embedder_unavailable`, 409 `memory_full`, and then nothing is written. May be repeated: the same content makes no second row. */
export async function addMemory(deps: AddingDeps, actor: Actor, request: AdditionRequest): Promise<Added> {
  const entity: Entity = { entityType: request.entity_type, entityId: request.entity_id };
  const { content, type, metadata = {} } = request;
  const embedding = await embedOne(deps.embedder, content);
  const inscription: Inscription = {
    type,
    content,
    hash: hashContent(content),
    metadata,
    embedder: deps.embedder.name,
    embedding,
  };
  const known = await findByHash(deps.db, entity, type, inscription.hash);
  // Word for word what is there: nothing to be written, so nothing to wait for.
  if (known !== undefined && known.content === content && addsNothing(known.metadata, metadata))
    return { memory: known, deduplicated: true };
  await deps.indexes.warm(deps.db, entity);
  return writeEntity(deps, entity, (writing) => inscribe(deps, writing, actor, entity, inscription));
}

async function inscribe(
  deps: AddingDeps,
  writing: Writing,
  actor: Actor,
  entity: Entity,
  inscription: Inscription,
): Promise<Added> {
  const { tx, version } = writing;
  const equal = await findByHash(tx, entity, inscription.type, inscription.hash);
  if (equal !== undefined) return merge(deps, writing, actor, equal, inscription, 1);
  const { twin, links } = await findNeighbours(deps, tx, entity, version, inscription);
  if (twin !== undefined) return merge(deps, writing, actor, twin.memory, inscription, twin.similarity);
  if (!hasRoom(writing.held, { memories: 1, bytes: sizeOf(inscription) })) throw memoryProblems.memory_full();
  const memory = await insertMemory(tx, deps.column, entity, inscription, version);
  await insertLinks(tx, memory.id, links);
  writing.changed(inscription.type);
  return { memory, deduplicated: false };
}

/**
 * The fuller wording survives, the newer when both are as full; the other one stays in the history. If the entity has no
 * room for the result, what is there survives.
 */
async function merge(
  deps: AddingDeps,
  { tx, version, held, changed }: Writing,
  actor: Actor,
  known: StoredMemory,
  incoming: Inscription,
  similarity: number,
): Promise<Added> {
  if (incoming.content === known.content && addsNothing(known.metadata, incoming.metadata))
    return { memory: known, deduplicated: true };
  const metadata = mergedMetadata(known.metadata, incoming.metadata);
  const isFuller = fullness(read(incoming.content)) >= fullness(read(known.content));
  const merged = { content: isFuller ? incoming.content : known.content, type: known.type, metadata };
  const fits = hasRoom(held, { memories: 0, bytes: sizeOf(merged) - known.bytes });
  const after: Wording = fits ? merged : wordingOf(known);
  await insertRevision(tx, known.id, {
    action: 'merge',
    actor,
    before: wordingOf(known),
    after,
    incoming: wordingOf(incoming),
    similarity,
    embedder: incoming.embedder,
  });
  const memory =
    fits && isFuller
      ? await updateMemory(tx, deps.column, known, { ...incoming, metadata }, version)
      : await updateMetadata(tx, known, after.metadata, version);
  changed(known.type);
  return { memory, deduplicated: true };
}

export function wordingOf({ content, type, metadata }: Wording | StoredMemory | Inscription): Wording {
  return { content, type, metadata };
}

function addsNothing(known: Metadata, incoming: Metadata): boolean {
  return Object.entries(incoming).every(
    ([key, value]) => Object.hasOwn(known, key) && JSON.stringify(known[key]) === JSON.stringify(value),
  );
}

/** Newer keys win. Together too large, the newer metadata alone stay, and the older ones in the history. */
function mergedMetadata(known: Metadata, incoming: Metadata): Record<string, unknown> {
  const merged = { ...known, ...incoming };
  const isTooLarge = Buffer.byteLength(JSON.stringify(merged)) > largestMetadataBytes;
  return isTooLarge ? { ...incoming } : merged;
}
