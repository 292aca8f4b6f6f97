/**
 * Caches what searches need of an entity: its terms, their frequencies, its profile, and its vectors if the database
 * computes no similarities. Each use reads the entity's version from the database, then only the rows that were written
 * since. So results are never older than the request, on any process.
 */
import { LRUCache } from 'lru-cache';
import { createPacer } from '#platform/concurrency/mapconcurrently.ts';
import type { Db, Tx } from '#platform/db/db.ts';
import type { Entity, MemoryType } from '../api.ts';
import type { Embedder } from '../embedding/embedder.ts';
import { type EntityState, findEntity, isPaused } from '../memories/entitystore.ts';
import { fromBytes, type VectorColumn } from '../memories/vectors.ts';
import { findProfile, type StoredProfile } from '../profiles/profilestore.ts';
import type { Handle, MemoryTables } from '../tables.ts';
import { hashText } from '../text/hashing.ts';
import type { WordLanguage } from '../text/languages.ts';
import { analyse } from '../text/terms.ts';
import { type Counted, countTerms } from './bm25.ts';
import { findChanged, findIds, type IndexRow } from './indexstore.ts';

export interface IndexedMemory extends Counted {
  readonly id: string;
  /** The order of insertion. */
  readonly seq: number;
  readonly type: MemoryType;
  readonly saidAtMs: number;
  readonly updatedAtMs: number;
  /** In UTF-16 code units. */
  readonly size: number;
  /** A question states no fact. */
  readonly isQuestion: boolean;
  /** The hash of its first term, which is the speaker of a message in the form `speaker: text`. */
  readonly first: number;
  /** Made by the current embedder. `undefined` if the database computes similarities. */
  readonly vector: Float32Array | undefined;
}

export interface EntityIndex {
  readonly version: number;
  readonly isPaused: boolean;
  readonly profile: StoredProfile | undefined;
  readonly memories: ReadonlyMap<string, IndexedMemory>;
  /** The ids of memories that were replaced. No search finds them. */
  readonly invalid: ReadonlySet<string>;
  readonly totalLength: number;
  readonly languages: ReadonlySet<WordLanguage>;
}

export interface EntityIndexes {
  /** Returns the current state in the database, or `undefined` if the entity is unknown. */
  get(db: Db<MemoryTables>, entity: Entity): Promise<EntityIndex | undefined>;
  /**
   * As `get`, for the holder of the entity's lock, whose own rows are not written yet. `before`: the state before the lock, so the index
   * is right even if the lock's transaction is rolled back.
   */
  getLocked(tx: Tx<MemoryTables>, entity: Entity, before: EntityState): Promise<EntityIndex>;
  /** Reads an entity that is not cached. This can be slow, so callers do it before they lock the entity. */
  warm(db: Db<MemoryTables>, entity: Entity): Promise<void>;
  /** Removes an erased entity from memory. */
  forget(entity: Entity): void;
}

/** The approximate limit for terms and vectors. */
const largestBytes = 256 * 1024 * 1024;
const rowsAtOnce = 100;

interface Growing extends EntityIndex {
  version: number;
  isPaused: boolean;
  profile: StoredProfile | undefined;
  readonly memories: Map<string, IndexedMemory>;
  readonly invalid: Set<string>;
  totalLength: number;
  readonly languages: Set<WordLanguage>;
  bytes: number;
}

export function createEntityIndexes(column: VectorColumn, embedder: Pick<Embedder, 'name'>): EntityIndexes {
  const cached = new LRUCache<string, Growing>({ maxSize: largestBytes, sizeCalculation: ({ bytes }) => bytes });
  const readings = new Map<string, Promise<unknown>>();
  const keyOf = ({ entityType, entityId }: Entity) => `${entityType} ${entityId}`;

  async function fill(db: Handle, entity: Entity, version: number, from: Growing | undefined): Promise<Growing> {
    const pace = createPacer();
    const index = from === undefined ? empty() : copyOf(from);
    // The profile is read before the rows, so the next read includes a write in between.
    index.profile = await findProfile(db, entity);
    let after = { version: index.version, seq: 0 };
    if (from !== undefined) after = { version: from.version, seq: Number.MAX_SAFE_INTEGER };
    for (;;) {
      const rows = await findChanged(db, entity, column, embedder.name, after, rowsAtOnce);
      for (const row of rows) {
        put(index, row);
        await pace();
      }
      const last = rows.at(-1);
      if (rows.length < rowsAtOnce || last === undefined) break;
      after = { version: last.version, seq: last.seq };
    }
    index.version = version;
    return index;
  }

  async function read(db: Handle, entity: Entity): Promise<EntityIndex | undefined> {
    const state = await findEntity(db, entity);
    if (state !== undefined) return update(db, entity, state);
    cached.delete(keyOf(entity));
    return undefined;
  }

  async function update(db: Handle, entity: Entity, state: EntityState) {
    const { version, memoryCount } = state;
    const key = keyOf(entity);
    const known = cached.get(key);
    if (known !== undefined && known.version >= version) return known;
    const index = await fill(db, entity, version, known);
    // More memories than rows: some were deleted, and no row shows that.
    if (index.memories.size + index.invalid.size !== memoryCount) await dropDeleted(db, entity, index);
    index.isPaused = isPaused(state);
    cached.set(key, index);
    return index;
  }

  /** Reading a whole entity is slow, so concurrent callers share one read. A lock holder must not wait for a caller without the lock. */
  async function warm(db: Db<MemoryTables>, entity: Entity): Promise<void> {
    const key = keyOf(entity);
    if (cached.has(key)) return;
    const reading = readings.get(key) ?? read(db, entity).finally(() => readings.delete(key));
    readings.set(key, reading);
    await reading;
  }

  async function get(db: Db<MemoryTables>, entity: Entity): Promise<EntityIndex | undefined> {
    await warm(db, entity);
    return read(db, entity);
  }

  return {
    get,
    getLocked: (tx, entity, before) => update(tx, entity, before),
    warm,
    forget: (entity) => cached.delete(keyOf(entity)),
  };
}

/** Indexes rows that are already in memory. */
export function indexRows(rows: readonly IndexRow[]): EntityIndex {
  const index = empty();
  for (const row of rows) put(index, row);
  return index;
}

async function dropDeleted(db: Handle, entity: Entity, index: Growing): Promise<void> {
  const there = new Set(await findIds(db, entity));
  for (const [id, memory] of index.memories) {
    if (there.has(id)) continue;
    index.memories.delete(id);
    count(index, memory, -1);
  }
  for (const id of index.invalid) if (!there.has(id)) index.invalid.delete(id);
}

function empty(): Growing {
  return {
    version: -1,
    isPaused: false,
    profile: undefined,
    memories: new Map(),
    invalid: new Set(),
    totalLength: 0,
    languages: new Set(),
    bytes: 1024,
  };
}

/** A search in the old index can continue. */
function copyOf(index: Growing): Growing {
  return {
    ...index,
    memories: new Map(index.memories),
    invalid: new Set(index.invalid),
    languages: new Set(index.languages),
  };
}

function put(index: Growing, row: IndexRow): void {
  const before = index.memories.get(row.id);
  if (before !== undefined) count(index, before, -1);
  index.memories.delete(row.id);
  index.invalid.delete(row.id);
  if (row.isInvalid) {
    index.invalid.add(row.id);
    return;
  }
  const { language, terms } = analyse(row.content);
  const sought = terms.flatMap(({ term, isStop }) => (isStop ? [] : [term]));
  const memory = {
    id: row.id,
    seq: row.seq,
    type: row.type,
    saidAtMs: row.saidAt.getTime(),
    updatedAtMs: row.updatedAt.getTime(),
    size: row.content.length,
    isQuestion: /[?？؟]["'”»)\s]*$/.test(row.content),
    vector: row.embedding === null ? undefined : fromBytes(row.embedding),
    first: hashText(sought[0] ?? ''),
    ...countTerms(sought),
  };
  index.memories.set(row.id, memory);
  index.languages.add(language);
  count(index, memory, 1);
}

function count(index: Growing, memory: IndexedMemory, sign: 1 | -1): void {
  index.totalLength += sign * memory.length;
  index.bytes += sign * (600 + memory.hashes.byteLength + memory.counts.byteLength + (memory.vector?.byteLength ?? 0));
}
