/**
 * Derives a profile from preferences and instructions by rules, the newest memory first. Each change of such a memory
 * derives the whole profile again, so a fact disappears with the memory that it was derived from.
 */
import type { Tx } from '#platform/db/db.ts';
import type { DerivedFact, Entity, MemoryType } from '../api.ts';
import type { MemoryTables } from '../tables.ts';
import { type Evidence, findEvidence, findEvidenceById, findProfile, saveDerived } from './profilestore.ts';

/** Instructions hold until their memory goes, so that newer ones push none out. */
const mostEvidence = { preference: 200, instruction: 2_000 } as const;
const longestFact = { preference: 2_000, instruction: 131_072 } as const;
/** Facts of which the newest statement counts. */
const single = ['display_name', 'language', 'timezone'] as const;

/** Returns whether profiles are derived from memories of this type. */
export const isEvidence = (type: MemoryType): boolean => Object.hasOwn(lists, type);

/** Requires the lock of the entity. */
export async function deriveProfile(tx: Tx<MemoryTables>, entity: Entity): Promise<void> {
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
  const { readStatements } = await import('./statements.ts');
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
