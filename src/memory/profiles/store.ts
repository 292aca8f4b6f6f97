/** The rows of profiles. */
import { type Generated, sql } from 'kysely';
import { type Db, json, type Tx } from '#platform/db/db.ts';
import type { DerivedFact } from '../admin/api.ts';
import type { Entity, EntityType } from '../api.ts';
import type { MemoryTables, StoredMemory } from '../store.ts';

export interface ProfileTables {
  memory_profiles: {
    entity_type: EntityType;
    entity_id: string;
    seq: Generated<number>;
    summary: string | null;
    language: string | null;
    facts: Generated<Record<string, string>>;
    derived: Generated<Record<string, DerivedFact>>;
    updated_at: Generated<Date>;
  };
}

type Handle = Db<ProfileTables> | Tx<ProfileTables>;

const profileColumns = [
  'entity_type as entityType',
  'entity_id as entityId',
  'seq',
  'summary',
  'language',
  'facts',
  'derived',
  'updated_at as updatedAt',
] as const;

export interface StoredProfile extends Entity {
  readonly seq: number;
  readonly summary: string | null;
  readonly language: string | null;
  readonly facts: Readonly<Record<string, string>>;
  readonly derived: Readonly<Record<string, DerivedFact>>;
  readonly updatedAt: Date;
}

export function findProfile(db: Handle, { entityType, entityId }: Entity): Promise<StoredProfile | undefined> {
  return db
    .selectFrom('memory_profiles')
    .select(profileColumns)
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .executeTakeFirst();
}

/** Rules look at every word of it: what is longer than this is no fact for a profile. */
const longestEvidenceBytes = 8192;

/** From which a profile is derived: the newest first. */
export function findEvidence(
  tx: Tx<MemoryTables>,
  { entityType, entityId }: Entity,
  limit: number,
): Promise<readonly Pick<StoredMemory, 'id' | 'type' | 'content'>[]> {
  return tx
    .selectFrom('memories')
    .select(['memory_id as id', 'type', 'content'])
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .where('type', 'in', ['preference', 'instruction'])
    .where(sql<boolean>`octet_length(content) <= ${longestEvidenceBytes}`)
    .orderBy('updated_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
}

export type Derived = Readonly<Record<string, DerivedFact>>;

/** The entity has to be locked. A row that nobody locked anything in goes when nothing is derived any more. */
export async function saveDerived(tx: Tx<ProfileTables>, entity: Entity, derived: Derived): Promise<void> {
  const { entityType, entityId } = entity;
  if (Object.keys(derived).length === 0) {
    await tx
      .deleteFrom('memory_profiles')
      .where('entity_type', '=', entityType)
      .where('entity_id', '=', entityId)
      .where('summary', 'is', null)
      .where('language', 'is', null)
      .where(sql<boolean>`facts = '{}'::jsonb`)
      .execute();
    await tx
      .updateTable('memory_profiles')
      .set({ derived: json({}), updated_at: sql<Date>`now()` })
      .where('entity_type', '=', entityType)
      .where('entity_id', '=', entityId)
      .execute();
    return;
  }
  await tx
    .insertInto('memory_profiles')
    .values({ entity_type: entityType, entity_id: entityId, derived: json(derived) })
    .onConflict((conflict) =>
      conflict.columns(['entity_type', 'entity_id']).doUpdateSet({
        derived: json(derived),
        updated_at: sql<Date>`now()`,
      }),
    )
    .execute();
}

export interface LockedProfile {
  readonly summary: string | null;
  readonly language: string | null;
  readonly facts: Readonly<Record<string, string>>;
}

/** What operators say. The entity has to be locked. */
export function saveLocked(tx: Tx<ProfileTables>, entity: Entity, locked: LockedProfile): Promise<StoredProfile> {
  const values = { summary: locked.summary, language: locked.language, facts: json({ ...locked.facts }) };
  return tx
    .insertInto('memory_profiles')
    .values({ entity_type: entity.entityType, entity_id: entity.entityId, ...values })
    .onConflict((conflict) =>
      conflict.columns(['entity_type', 'entity_id']).doUpdateSet({ ...values, updated_at: sql<Date>`now()` }),
    )
    .returning(profileColumns)
    .executeTakeFirstOrThrow();
}

export async function deleteProfile(tx: Tx<ProfileTables>, { entityType, entityId }: Entity): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('memory_profiles')
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The newest first, from before `before` on. */
export function listProfiles(
  db: Handle,
  { q, before, limit }: { readonly q: string | undefined; readonly before: number | undefined; readonly limit: number },
): Promise<readonly StoredProfile[]> {
  const sought = `%${(q ?? '').toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
  return db
    .selectFrom('memory_profiles')
    .select(profileColumns)
    .$if(q !== undefined, (query) =>
      query.where(
        sql<boolean>`lower(entity_id || ' ' || coalesce(summary, '') || ' ' || facts::text || ' ' || derived::text) like ${sought}`,
      ),
    )
    .$if(before !== undefined, (query) => query.where('seq', '<', Number(before)))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
}
