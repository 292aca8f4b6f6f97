/** The tables of the memory service, for the types of its queries. */
import type { Generated } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type * as api from './api.ts';

export interface MemoryTables {
  memory_entities: {
    entity_type: api.EntityType;
    entity_id: string;
    version: Generated<number>;
    memory_count: Generated<number>;
    memory_bytes: Generated<number>;
    judging_key: Generated<string>;
    /** Of the last pause. `null`: there was none. */
    paused_at: Date | null;
    /** `null`: the pause lasts. */
    resumed_at: Date | null;
  };
  memories: {
    memory_id: Generated<string>;
    seq: Generated<number>;
    entity_type: api.EntityType;
    entity_id: string;
    type: api.MemoryType;
    content: string;
    content_hash: Buffer;
    metadata: api.Metadata;
    embedder: string;
    embedding: Buffer;
    version: number;
    bytes: number;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
    said_at: Generated<Date>;
    /** `null`: it is valid. */
    invalid_at: Date | null;
    replaced_by: string | null;
    /** `null`: unknown. */
    added_by: api.Actor | null;
    thread_id: string | null;
  };
  memory_revisions: {
    memory_id: string;
    number: number;
    action: api.RevisionAction;
    actor: api.Actor;
    before: api.MemoryContent;
    after: api.MemoryContent;
    incoming: api.MemoryContent | null;
    similarity: number | null;
    embedder: string;
    reason: string | null;
    created_at: Generated<Date>;
    undone_at: Date | null;
  };
  memory_links: {
    memory_id: string;
    other_id: string;
    kind: api.LinkKind;
    created_at: Generated<Date>;
  };
  memory_profiles: {
    entity_type: api.EntityType;
    entity_id: string;
    seq: Generated<number>;
    summary: string | null;
    language: string | null;
    facts: Generated<Record<string, string>>;
    derived: Generated<Record<string, api.DerivedFact>>;
    updated_at: Generated<Date>;
  };
  memory_distinctions: {
    entity_type: api.EntityType;
    entity_id: string;
    type: api.MemoryType;
    content_hash: Buffer;
    other_hash: Buffer;
  };
  memory_judgements: {
    memory_id: string;
    due_at: Date;
  };
  memory_model_calls: {
    entity_type: api.EntityType;
    entity_id: string;
    day: string;
    calls: number;
  };
  memory_calibrations: {
    embedder: string;
    edition: number;
    /** Pairs of a cosine and its similarity. */
    points: readonly (readonly [number, number])[];
    center: readonly number[];
    query_points: readonly (readonly [number, number])[];
  };
  memory_erasures: {
    erasure_id: Generated<string>;
    salt: string;
    entity_digest: string;
    memory_count: number;
    created_at: Generated<Date>;
  };
}

export type Handle = Db<MemoryTables> | Tx<MemoryTables>;
