/** The rows of profiles. */
import { type InsertObject, sql } from 'kysely';
import { hasChanged, inCamelCase, json, type Tx } from '#platform/db/db.ts';
import { type DerivedFact, type Entity, fieldsOf, type MemoryType } from '../api.ts';
import type { StoredMemory } from '../memories/memorystore.ts';
import type { Handle, MemoryTables } from '../tables.ts';

const profileColumns = inCamelCase('entity_type entity_id seq summary language facts derived updated_at');

export type StoredProfile = NonNullable<Awaited<ReturnType<typeof findProfile>>>;

export function findProfile(db: Handle, entity: Entity) {
  return db
    .selectFrom('memory_profiles')
    .select(profileColumns)
    .where((eb) => eb.and(fieldsOf(entity)))
    .executeTakeFirst();
}

/** Rules read every word, so longer contents are no evidence. */
const longestEvidenceBytes = 8192;

export type Evidence = Pick<StoredMemory, 'id' | 'type' | 'content' | 'updatedAt' | 'seq'>;

/** Returns memories of one type that a profile can be derived from, the newest first; all of them without a limit. */
export function findEvidence(
  tx: Tx<MemoryTables>,
  entity: Entity,
  type: MemoryType,
  limit?: number,
): Promise<readonly Evidence[]> {
  return evidenceOf(tx, entity)
    .where('type', '=', type)
    .orderBy('updated_at', 'desc')
    .orderBy('seq', 'desc')
    .$if(limit !== undefined, (query) => query.limit(Number(limit)))
    .execute();
}

/** Returns those of `ids` that still exist and that a profile can be derived from. */
export function findEvidenceById(
  tx: Tx<MemoryTables>,
  entity: Entity,
  ids: readonly string[],
): Promise<readonly Evidence[]> {
  return evidenceOf(tx, entity).where(sql<boolean>`memory_id = any(${ids}::uuid[])`).execute();
}

function evidenceOf(tx: Tx<MemoryTables>, entity: Entity) {
  return tx
    .selectFrom('memories')
    .select(['memory_id as id', 'seq', 'type', 'content', 'updated_at as updatedAt'])
    .where((eb) => eb.and(fieldsOf(entity)))
    .where('type', 'in', ['preference', 'instruction'])
    .where('invalid_at', 'is', null)
    .where(sql<boolean>`octet_length(content) <= ${longestEvidenceBytes}`);
}

export type Derived = Readonly<Record<string, DerivedFact>>;

/** Requires the lock of the entity. Deletes the row if nothing is derived and no operator has written a field. */
export async function saveDerived(tx: Tx<MemoryTables>, entity: Entity, derived: Derived): Promise<void> {
  if (Object.keys(derived).length === 0) {
    await tx
      .deleteFrom('memory_profiles')
      .where((eb) => eb.and(fieldsOf(entity)))
      .where('summary', 'is', null)
      .where('language', 'is', null)
      .where(sql<boolean>`facts = '{}'::jsonb`)
      .execute();
    await tx
      .updateTable('memory_profiles')
      .set({ derived: json({}), updated_at: sql<Date>`now()` })
      .where((eb) => eb.and(fieldsOf(entity)))
      .execute();
    return;
  }
  await upsert(tx, entity, { derived: json(derived) }).execute();
}

/** Saves the fields that operators write. Requires the lock of the entity. */
export function saveLocked(
  tx: Tx<MemoryTables>,
  entity: Entity,
  { summary, language, facts }: Pick<StoredProfile, 'summary' | 'language' | 'facts'>,
): Promise<StoredProfile> {
  const saved = upsert(tx, entity, { summary, language, facts: json(facts) });
  return saved.returning(profileColumns).executeTakeFirstOrThrow();
}

function upsert(
  tx: Tx<MemoryTables>,
  entity: Entity,
  values: Omit<InsertObject<MemoryTables, 'memory_profiles'>, 'entity_type' | 'entity_id'>,
) {
  return tx
    .insertInto('memory_profiles')
    .values({ ...fieldsOf(entity), ...values })
    .onConflict((conflict) =>
      conflict.columns(['entity_type', 'entity_id']).doUpdateSet({ ...values, updated_at: sql<Date>`now()` }),
    );
}

export async function deleteProfile(tx: Tx<MemoryTables>, entity: Entity): Promise<boolean> {
  return tx
    .deleteFrom('memory_profiles')
    .where((eb) => eb.and(fieldsOf(entity)))
    .$call(hasChanged);
}

/** Returns the profiles before `before`, the newest first. */
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
