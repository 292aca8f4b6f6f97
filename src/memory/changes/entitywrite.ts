/**
 * Writes to an entity: in the queue of this process, in one transaction, under the lock of the entity. The profile is derived again at
 * the end. Slow work, such as embedding, must be done before.
 */
import { createGates, type Gates } from '#platform/concurrency.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import type { DerivedFact, Entity, MemoryType } from '../api.ts';
import type { MemoryContext, Writing } from '../context.ts';
import * as store from '../memories/entitystore.ts';
import { type Evidence, findEvidence, findEvidenceById, findProfile, saveDerived } from '../profiles/profilestore.ts';
import type { MemoryTables } from '../tables.ts';

type Usage = Pick<store.EntityState, 'memoryCount' | 'memoryBytes'>;

/** Of one entity. Metadata count too. */
const limits = { mostMemories: 10_000, mostBytes: 16 * 1024 * 1024 };

/** Accepts every write that does not grow, so that users can delete and shorten the memories of a full entity. */
export function hasRoom(
  { memoryCount, memoryBytes }: Usage,
  more: { readonly memories: number; readonly bytes: number },
) {
  if (more.memories > 0 && memoryCount + more.memories > limits.mostMemories) return false;
  return more.bytes <= 0 || memoryBytes + more.bytes <= limits.mostBytes;
}

/** Throws 409 `memory_paused` for a write that `adds` something, while the entity is paused. */
export function writeEntity<Result>(
  deps: MemoryContext,
  entity: Entity,
  work: (writing: Writing) => Promise<Result>,
  { adds = false }: { readonly adds?: boolean } = {},
): Promise<Result> {
  return deps.writes.run(`${entity.entityType} ${entity.entityId}`, () =>
    transaction(deps.db, async (tx) => {
      const { version, before: state } = await store.lockEntity(tx, entity);
      if (deps.since !== undefined) await store.assertNotErased(tx, entity, deps.since);
      if (adds && state.pausedAt !== null) await store.assertNotPaused(tx, entity, deps.since);
      let affectsProfile = false;
      const result = await work({
        tx,
        version,
        state,
        recordChange: (...types) => {
          affectsProfile ||= types.some(isEvidence);
        },
      });
      if (affectsProfile) await deriveProfile(tx, entity);
      return result;
    }),
  );
}

/** Begins or ends a pause. Does nothing if it has begun or ended before. Returns when it began; `null`: there is none. */
export async function pauseEntity(deps: MemoryContext, entity: Entity, paused: boolean): Promise<Date | null> {
  const state = await writeEntity(deps, entity, async ({ tx, state }) => {
    if (store.isPaused(state) !== paused) await store.setPaused(tx, entity, paused);
    return store.findEntity(tx, entity);
  });
  await deps.announce(entity);
  return store.pauseOf(state);
}

// Erases an entity (docs/specification/memory.md#erasure). One transaction deletes its rows, histories and links, so no
// content or id remains. Other processes hold numbers and stems of the entity until their next request for it, and never
// return them. Work that began before the erasure, such as an extraction, then writes nothing (`assertNotErased`).

/** Does nothing for an unknown entity, so it can be repeated. */
export async function eraseEntity(deps: MemoryContext, entity: Entity): Promise<void> {
  await writeEntity(deps, entity, async ({ tx }) => {
    await store.holdErasures(tx, entity);
    await store.insertErasure(tx, entity, await store.deleteEntity(tx, entity));
  });
  deps.indexes.forget(entity);
  await deps.announce(entity);
}

// Runs writes of one entity in this process one after the other. A write that waits for the entity's lock holds a
// database connection, so a burst of additions to one entity could otherwise hold all of them.

/** Below the 10 s limit of every response (docs/specification/http.md#failing-engines). */
const longestWaitMs = 6_000;

export const createWrites = (): Gates =>
  createGates({ width: 1, maxWaiting: 1000, waitTimeoutMs: longestWaitMs }, problems.overloaded);

// Derives a profile from preferences and instructions by rules, the newest memory first. Each change of such a memory
// derives the whole profile again, so a fact disappears with the memory that it was derived from.

/** Instructions hold until their memory goes, so that newer ones push none out. */
const mostEvidence = { preference: 200, instruction: 2_000 } as const;
const longestFact = { preference: 2_000, instruction: 131_072 } as const;
/** Facts of which the newest statement counts. */
const single = ['display_name', 'language', 'timezone'] as const;

/** Returns whether profiles are derived from memories of this type. */
const isEvidence = (type: MemoryType): boolean => Object.hasOwn(lists, type);

/** Requires the lock of the entity. */
async function deriveProfile(tx: Tx<MemoryTables>, entity: Entity): Promise<void> {
  const newest = await Promise.all(types.map((type) => findEvidence(tx, entity, type, mostEvidence[type])));
  const facts = await applyRules(newest.flat());
  await addOlderFacts(tx, entity, facts);
  for (const [index, type] of types.entries()) {
    const listed = listOf(newest[index] ?? [], longestFact[type]);
    if (listed !== undefined) facts[lists[type]] = listed;
  }
  await saveDerived(tx, entity, facts);
}

/** A fact holds until its memory goes, however many newer memories there are. Then the next older one counts. */
async function addOlderFacts(tx: Tx<MemoryTables>, entity: Entity, facts: Facts): Promise<void> {
  const { derived = {} } = (await findProfile(tx, entity)) ?? {};
  const missing = single.filter((fact) => facts[fact] === undefined && derived[fact]);
  if (missing.length === 0) return;
  const known = await findEvidenceById(
    tx,
    entity,
    missing.flatMap((fact) => derived[fact]?.evidence ?? []),
  );
  const confirmed = await applyRules(known);
  const isLost = missing.some((fact) => confirmed[fact] === undefined);
  const all = isLost ? await Promise.all(types.map((type) => findEvidence(tx, entity, type))) : [known];
  const older = await applyRules(all.flat());
  for (const fact of missing) if (older[fact] !== undefined) facts[fact] = older[fact];
}

/** Facts that list the contents of memories, one on each line. */
const lists = { preference: 'preferences', instruction: 'standing_instructions' } as const;

const types = ['preference', 'instruction'] as const;

type Facts = Record<string, DerivedFact>;

/** The newest match of a rule decides. The words of many languages take memory, so they are loaded on first use. */
async function applyRules(evidence: readonly Evidence[]): Promise<Facts> {
  const { readStatements } = await import('../profiles/statements.ts');
  const facts: Facts = {};
  const newestFirst = evidence.toSorted(
    (left, right) => right.updatedAt.getTime() - left.updatedAt.getTime() || right.seq - left.seq,
  );
  for (const { id, content } of newestFirst)
    for (const { fact, value } of readStatements(content)) facts[fact] ??= { value, evidence: [id] };
  return facts;
}

/** Lists as many whole contents as fit. Skips a content that alone is too long. */
function listOf(memories: readonly Evidence[], most: number): DerivedFact | undefined {
  const lines: string[] = [];
  const ids: string[] = [];
  let length = 0;
  for (const { id, content } of memories) {
    const line = content.replace(/\s+/gu, ' ').trim();
    if (line === '' || length + line.length > most) continue;
    lines.push(line);
    ids.push(id);
    length += line.length + 1;
  }
  return lines.length === 0 ? undefined : { value: lines.join('\n'), evidence: ids };
}
