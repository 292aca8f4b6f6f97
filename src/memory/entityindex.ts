/**
 * What this process keeps of an entity for searching: its terms, their frequencies, its profile, and, where the database
 * computes no similarities, its vectors. Every use asks the database for the entity's version first, and reads what was
 * written since; so it is never older than the question, on any process, and is a cache only in that most of it need not
 * be read again.
 */
import { LRUCache } from 'lru-cache';
import { createPacer } from '#platform/concurrency/pacing.ts';
import type { Db, Tx } from '#platform/db/db.ts';
import type { Entity, MemoryType } from './api.ts';
import type { Embedder } from './embedding/embedder.ts';
import { findProfile, type StoredProfile } from './profiles/store.ts';
import { findChanged, findEntity, findIds, type Handle, type IndexRow, type MemoryTables } from './store.ts';
import { type Counted, countTerms } from './text/bm25.ts';
import type { WordLanguage } from './text/languages.ts';
import { analyse } from './text/terms.ts';
import { fromBytes, type VectorColumn } from './vectors.ts';

export interface IndexedMemory extends Counted {
  readonly id: string;
  /** In the order of arrival. */
  readonly seq: number;
  readonly type: MemoryType;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** By the embedder in use; where similarities are the database's to compute there is none. */
  readonly vector: Float32Array | undefined;
}

export interface EntityIndex {
  readonly version: number;
  readonly profile: StoredProfile | undefined;
  readonly memories: ReadonlyMap<string, IndexedMemory>;
  readonly totalLength: number;
  readonly languages: ReadonlySet<WordLanguage>;
}

export interface EntityIndexes {
  /** As the database has it now; `undefined`: it knows nothing of the entity. */
  look(db: Db<MemoryTables>, entity: Entity): Promise<EntityIndex | undefined>;
  /** As `look`, for the holder of the entity's lock. `lockVersion`: of that lock, whose own rows are still to come. */
  lookLocked(tx: Tx<MemoryTables>, entity: Entity, lockVersion: number): Promise<EntityIndex | undefined>;
  /** Reads what is not kept at all, which takes long where there is much: before a lock, so that it is not held meanwhile. */
  warm(db: Db<MemoryTables>, entity: Entity): Promise<void>;
  /** Nothing of an entity that was erased stays in memory. */
  forget(entity: Entity): void;
}

/** About: terms and vectors. */
const largestBytes = 256 * 1024 * 1024;
const rowsAtOnce = 100;

interface Growing extends EntityIndex {
  version: number;
  profile: StoredProfile | undefined;
  readonly memories: Map<string, IndexedMemory>;
  totalLength: number;
  readonly languages: Set<WordLanguage>;
  bytes: number;
}

export function createEntityIndexes(column: VectorColumn, embedder: Pick<Embedder, 'name'>): EntityIndexes {
  const kept = new LRUCache<string, Growing>({ maxSize: largestBytes, sizeCalculation: ({ bytes }) => bytes });
  const readings = new Map<string, Promise<unknown>>();
  const keyOf = ({ entityType, entityId }: Entity) => `${entityType} ${entityId}`;

  async function fill(db: Handle, entity: Entity, version: number, from: Growing | undefined): Promise<Growing> {
    const pace = createPacer();
    const index = from === undefined ? empty() : copyOf(from);
    // Read before the rows: a write in between is read again next time.
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

  /** As the database has it; `lockVersion` as for `look`. */
  async function read(db: Handle, entity: Entity, lockVersion?: number): Promise<EntityIndex | undefined> {
    const key = keyOf(entity);
    const state = await findEntity(db, entity);
    if (state === undefined) {
      kept.delete(key);
      return undefined;
    }
    // Under a lock: everything before it is there, and what is written under it will carry its version.
    const version = lockVersion === undefined ? state.version : lockVersion - 1;
    const known = kept.get(key);
    // Newer, it was read under a lock whose write is not committed or was rolled back: the rows are the same.
    if (known !== undefined && known.version >= version) return known;
    const index = await fill(db, entity, version, known);
    // More than there are: something was deleted, which leaves no row to be read.
    if (index.memories.size !== state.memoryCount) await dropDeleted(db, entity, index);
    kept.set(key, index);
    return index;
  }

  /** Reading a whole entity is slow, so concurrent callers share one read. A lock holder must not wait for a caller without the lock. */
  async function warm(db: Db<MemoryTables>, entity: Entity): Promise<void> {
    const key = keyOf(entity);
    if (kept.has(key)) return;
    const reading = readings.get(key) ?? read(db, entity).finally(() => readings.delete(key));
    readings.set(key, reading);
    await reading;
  }

  return {
    async look(db, entity) {
      await warm(db, entity);
      return read(db, entity);
    },
    lookLocked: read,
    warm,
    forget: (entity) => kept.delete(keyOf(entity)),
  };
}

/** Of rows that are at hand. */
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
}

function empty(): Growing {
  return {
    version: -1,
    profile: undefined,
    memories: new Map(),
    totalLength: 0,
    languages: new Set(),
    bytes: 1024,
  };
}

/** Whoever searches in the old one goes on undisturbed. */
function copyOf(index: Growing): Growing {
  return {
    ...index,
    memories: new Map(index.memories),
    languages: new Set(index.languages),
  };
}

function put(index: Growing, row: IndexRow): void {
  const before = index.memories.get(row.id);
  if (before !== undefined) count(index, before, -1);
  const { language, terms } = analyse(row.content);
  const memory = {
    id: row.id,
    seq: row.seq,
    type: row.type,
    createdAtMs: row.createdAt.getTime(),
    updatedAtMs: row.updatedAt.getTime(),
    vector: row.embedding === null ? undefined : fromBytes(row.embedding),
    ...countTerms(terms.flatMap(({ term, isStop }) => (isStop ? [] : [term]))),
  };
  index.memories.set(row.id, memory);
  index.languages.add(language);
  count(index, memory, 1);
}

function count(index: Growing, memory: IndexedMemory, sign: 1 | -1): void {
  index.totalLength += sign * memory.length;
  index.bytes += sign * (600 + memory.hashes.byteLength + memory.counts.byteLength + (memory.vector?.byteLength ?? 0));
}
