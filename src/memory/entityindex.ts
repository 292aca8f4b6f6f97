/**
 * What this process keeps of an entity for searching: its terms, their frequencies, its profile, and, where the database
 * computes no similarities, its vectors. Every use asks the database for the entity's version first, and reads what was
 * written since; so it is never older than the question, on any process, and is a cache only in that most of it need not
 * be read again.
 */
import { LRUCache } from 'lru-cache';
import type { Entity, MemoryType } from './api.ts';
import type { Embedder } from './embedding/embedder.ts';
import { findProfile, type StoredProfile } from './profiles/store.ts';
import { findChanged, findEntity, type Handle, type IndexRow } from './store.ts';
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
  readonly frequencies: ReadonlyMap<string, number>;
  readonly languages: ReadonlySet<WordLanguage>;
}

export interface EntityIndexes {
  /**
   * As the database has it now; `undefined`: it knows nothing of the entity. `lockVersion`: of the lock that the caller
   * holds, whose own rows are still to come.
   */
  look(db: Handle, entity: Entity, lockVersion?: number): Promise<EntityIndex | undefined>;
  /** Nothing of an entity that was erased stays in memory. */
  forget(entity: Entity): void;
}

/** About: terms and vectors. */
const largestBytes = 256 * 1024 * 1024;
const rowsAtOnce = 500;

interface Growing extends EntityIndex {
  version: number;
  profile: StoredProfile | undefined;
  readonly memories: Map<string, IndexedMemory>;
  totalLength: number;
  readonly frequencies: Map<string, number>;
  readonly languages: Set<WordLanguage>;
  bytes: number;
}

export function createEntityIndexes(column: VectorColumn, embedder: Pick<Embedder, 'name'>): EntityIndexes {
  const kept = new LRUCache<string, Growing>({ maxSize: largestBytes, sizeCalculation: ({ bytes }) => bytes });
  const keyOf = ({ entityType, entityId }: Entity) => `${entityType} ${entityId}`;

  async function fill(db: Handle, entity: Entity, version: number, from: Growing | undefined): Promise<Growing> {
    const index = from === undefined ? empty() : copyOf(from);
    // Read before the rows: a write in between is read again next time.
    index.profile = await findProfile(db, entity);
    let after = { version: index.version, seq: 0 };
    if (from !== undefined) after = { version: from.version, seq: Number.MAX_SAFE_INTEGER };
    for (;;) {
      const rows = await findChanged(db, entity, column, embedder.name, after, rowsAtOnce);
      for (const row of rows) put(index, row);
      const last = rows.at(-1);
      if (rows.length < rowsAtOnce || last === undefined) break;
      after = { version: last.version, seq: last.seq };
    }
    index.version = version;
    return index;
  }

  return {
    async look(db, entity, lockVersion) {
      const key = keyOf(entity);
      const state = await findEntity(db, entity);
      if (state === undefined) {
        kept.delete(key);
        return undefined;
      }
      // Under a lock: everything before it is there, and what is written under it will carry its version.
      const version = lockVersion === undefined ? state.version : lockVersion - 1;
      const known = kept.get(key);
      if (known?.version === version) return known;
      const base = known !== undefined && known.version < version ? known : undefined;
      let index = await fill(db, entity, version, base);
      // More than there are: something was deleted, which leaves no row to be read.
      if (base !== undefined && index.memories.size !== state.memoryCount)
        index = await fill(db, entity, version, undefined);
      kept.set(key, index);
      return index;
    },
    forget: (entity) => kept.delete(keyOf(entity)),
  };
}

function empty(): Growing {
  return {
    version: -1,
    profile: undefined,
    memories: new Map(),
    totalLength: 0,
    frequencies: new Map(),
    languages: new Set(),
    bytes: 1024,
  };
}

/** Whoever searches in the old one goes on undisturbed. */
function copyOf(index: Growing): Growing {
  return {
    ...index,
    memories: new Map(index.memories),
    frequencies: new Map(index.frequencies),
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
  index.bytes += sign * (200 + memory.counts.size * 60 + (memory.vector?.byteLength ?? 0));
  for (const term of memory.counts.keys()) {
    const found = (index.frequencies.get(term) ?? 0) + sign;
    if (found > 0) index.frequencies.set(term, found);
    else index.frequencies.delete(term);
  }
}
