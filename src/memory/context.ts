/** What the features of the service use. */

import type { Counter } from '@prometheus-io/client';
import type { Clock } from '#platform/clock.ts';
import type { Gates } from '#platform/concurrency.ts';
import type { Db, Tx } from '#platform/db/db.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { Entity, MemoryType } from './api.ts';
import type { CalibratedEmbedder } from './embedding/embedder.ts';
import type { EntityState, Since } from './memories/entitystore.ts';
import type { StoredMemory, VectorColumn } from './memories/memorystore.ts';
import type { MemoryModel } from './model/languagemodel.ts';
import type { EntityIndexes } from './search/entityindex.ts';
import type { MemoryTables } from './tables.ts';

export interface MemoryContext {
  readonly db: Db<MemoryTables>;
  readonly column: VectorColumn;
  readonly embedder: CalibratedEmbedder;
  readonly indexes: EntityIndexes;
  /** Runs writes of one entity in this process one after the other (`changes/entitywrite.ts`). */
  readonly writes: Gates;
  readonly clock: Clock;
  readonly jobs: Jobs;
  readonly log: Log;
  /** Makes the agent drop what it has read of a user. Called after a change that takes something from it. Never rejects. */
  readonly announce: (entity: Entity) => Promise<void>;
  /** MEMORY_MERGE_SIMILARITY: contents merge above it (docs/specification/memory.md#adding). */
  readonly mergeAbove: number;
  /** MEMORY_MIN_RELEVANCE. */
  readonly minRelevance: number;
  /** Set if there is a judge. Has the language model judge a new memory later, in the transaction of the addition. */
  readonly requestJudgement?: ((writing: Writing, memory: StoredMemory) => Promise<void>) | undefined;
  /** When the work began. If the entity was erased since, writes throw EntityErased and change nothing. */
  readonly since?: Since | undefined;
}

/** With a language model. */
export interface JudgingContext extends MemoryContext {
  readonly model: MemoryModel;
  readonly calls: Counter<'purpose' | 'outcome'>;
  /** MEMORY_MODEL_DAILY_CALLS. */
  readonly dailyCalls: number;
  /** MEMORY_MODEL_TIMEOUT_SECS. */
  readonly modelTimeoutMs: number;
  /** How long a new memory waits for others, so that one call judges them all. */
  readonly judgingDelayMs?: number | undefined;
}

/** A transaction that changes an entity (`writeEntity`). */
export interface Writing {
  readonly tx: Tx<MemoryTables>;
  /** The version of the lock. Every row that is written carries it. */
  readonly version: number;
  /** The state of the entity before this write. */
  readonly state: EntityState;
  /** Records that memories of these types changed. Their profile is derived again if it can depend on them. */
  readonly recordChange: (...types: readonly MemoryType[]) => void;
}
