/**
 * Caches what searches need of an entity: its terms, their frequencies, its profile, and its vectors if the database
 * computes no similarities. Each use reads the entity's version from the database, then only the rows that were written
 * since. So results are never older than the request, on any process.
 */
import { LRUCache } from 'lru-cache';
import { createPacer } from '#platform/concurrency.ts';
import type { Db, Tx } from '#platform/db/db.ts';
import type { Entity, MemoryType } from '../api.ts';
import type { Embedder } from '../embedding/embedder.ts';
import { type EntityState, findEntity, isPaused } from '../memories/entitystore.ts';
import { findChanged, findIds, fromBytes, type IndexRow, type VectorColumn } from '../memories/memorystore.ts';
import { findProfile, type StoredProfile } from '../profiles/profilestore.ts';
import type { Handle, MemoryTables } from '../tables.ts';
import { analyse, hashText, type WordLanguage } from '../text.ts';

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

// BM25 over the memories of one entity, with the document frequencies of this entity. Constants as measured (docs/memory.md).

const k1 = 0.9;
const b = 0.4;

/** The terms of a document by their hashes, in six bytes each, because an entity can have millions. */
interface Counted {
  /** In ascending order. */
  readonly hashes: Uint32Array;
  /** How often each term occurs in the document. */
  readonly counts: Uint16Array;
  readonly length: number;
}

interface Collection {
  readonly documents: number;
  readonly totalLength: number;
  /** The number of documents that contain each of the sought terms. */
  readonly frequencies: ReadonlyMap<string, number>;
}

const mostCount = 0xffff;
/** Documents that are read before the next look at the clock. */
const betweenPauses = 64;

export function countTerms(terms: readonly string[]): Counted {
  const all = Uint32Array.from(terms, hashText).sort();
  const hashes = all.filter((hash, place) => hash !== all[place - 1]);
  const counts = new Uint16Array(hashes.length);
  let place = -1;
  for (const hash of all) {
    if (hash !== hashes[place]) place += 1;
    counts[place] = Math.min(mostCount, (counts[place] ?? 0) + 1);
  }
  return { hashes, counts, length: terms.length };
}

/** Calls `found` with the index in `sought` and the count, for each term of the document. */
type Lookup = (document: Counted, found: (place: number, count: number) => void) => void;

function lookUp(sought: readonly string[]): Lookup {
  const wanted = sought.map(hashText);
  const places = new Map(wanted.map((hash, place) => [hash, place]));
  return ({ hashes, counts }, found) => {
    // The shorter list is looked up in the longer one. Loops by index, because iterators take twice as long.
    if (wanted.length > hashes.length) {
      for (let at = 0; at < hashes.length; at += 1) {
        const place = places.get(hashes[at] ?? 0);
        if (place !== undefined) found(place, counts[at] ?? 0);
      }
      return;
    }
    for (let place = 0; place < wanted.length; place += 1) {
      const hash = wanted[place] ?? 0;
      const at = placeOf(hashes, hash);
      if (hashes[at] === hash) found(place, counts[at] ?? 0);
    }
  };
}

/** Returns the index of the first hash that is not less. */
function placeOf(ascending: Uint32Array, sought: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < sought) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the number of documents that contain each term. Omits terms that no document contains. */
export async function findFrequencies(
  documents: Iterable<Counted>,
  terms: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const pace = createPacer();
  const sought = [...new Set(terms)];
  const frequencies = new Uint32Array(sought.length);
  const eachIn = lookUp(sought);
  const count = (place: number) => {
    frequencies[place] = (frequencies[place] ?? 0) + 1;
  };
  let read = 0;
  for (const document of documents) {
    eachIn(document, count);
    read += 1;
    if (read % betweenPauses === 0) await pace();
  }
  return new Map(sought.flatMap((term, place) => (frequencies[place] ? [[term, frequencies[place]]] : [])));
}

/** Never negative. A term that no document contains has the highest value. */
function inverseFrequency(collection: Collection, term: string): number {
  const { documents } = collection;
  const found = collection.frequencies.get(term) ?? 0;
  return Math.log(1 + (documents - found + 0.5) / (found + 0.5));
}

/**
 * Scores documents as a share of the highest possible score, from 0 (no shared term) to 1. So one list can contain
 * scores from two collections. `rarityPower`: the exponent of inverse frequencies, which is 1 in BM25.
 */
export function createScorer(
  collection: Collection,
  query: readonly string[],
  rarityPower = 1,
): (document: Counted) => number {
  const terms = [...new Set(query)];
  const weights = terms.map((term) => inverseFrequency(collection, term) ** rarityPower);
  const most = weights.reduce((sum, weight) => sum + weight * (k1 + 1), 0);
  const average = collection.totalLength / Math.max(1, collection.documents) || 1;
  const eachIn = lookUp(terms);
  return (document) => {
    if (most === 0) return 0;
    const norm = k1 * (1 - b + (b * document.length) / average);
    let score = 0;
    eachIn(document, (place, count) => {
      score += ((weights[place] ?? 0) * count * (k1 + 1)) / (count + norm);
    });
    return score / most;
  };
}
