/**
 * Derives a profile from preferences and instructions by rules, the newest memory first. Each change of such a memory
 * derives the whole profile again, so a fact disappears with the memory that it was derived from.
 */
import type { Tx } from '#platform/db/db.ts';
import type { DerivedFact, Entity, MemoryType } from '../api.ts';
import type { MemoryTables } from '../tables.ts';
import { type Evidence, findEvidence, findEvidenceById, findProfile, saveDerived } from './profilestore.ts';

/** Of each type. */
const mostEvidence = 200;
const longestFact = 2000;

/** Returns whether profiles are derived from memories of this type. */
export const isEvidence = (type: MemoryType): boolean => Object.hasOwn(lists, type);

/** Requires the lock of the entity. */
export async function deriveProfile(tx: Tx<MemoryTables>, entity: Entity): Promise<void> {
  const newest = await Promise.all(types.map((type) => findEvidence(tx, entity, type, mostEvidence)));
  const facts = applyRules(newest.flat());
  await addOlderFacts(tx, entity, facts);
  for (const [index, type] of types.entries()) {
    const listed = listOf(newest[index] ?? []);
    if (listed !== undefined) facts[lists[type]] = listed;
  }
  await saveDerived(tx, entity, facts);
}

/** A fact holds until its memory goes, however many newer memories there are. Then the next older one counts. */
async function addOlderFacts(tx: Tx<MemoryTables>, entity: Entity, facts: Facts): Promise<void> {
  const { derived = {} } = (await findProfile(tx, entity)) ?? {};
  const missing = rules.map(({ fact }) => fact).filter((fact) => facts[fact] === undefined && derived[fact]);
  if (missing.length === 0) return;
  const known = await findEvidenceById(
    tx,
    entity,
    missing.flatMap((fact) => derived[fact]?.evidence ?? []),
  );
  const confirmed = applyRules(known);
  const isLost = missing.some((fact) => confirmed[fact] === undefined);
  const all = isLost ? await Promise.all(types.map((type) => findEvidence(tx, entity, type))) : [known];
  const older = applyRules(all.flat());
  for (const fact of missing) if (older[fact] !== undefined) facts[fact] = older[fact];
}

const name = "(?<value>\\p{L}[\\p{L}\\p{M}\\p{N} .'’-]{0,60}?)[.!。！]*$";
const names = [
  `^(?:my|the user['’]s|user['’]s) (?:first |full )?name is ${name}`,
  `^(?:please )?call me ${name}`,
  `^ich hei(?:ß|ss)e ${name}`,
  `^mein name ist ${name}`,
  `^je m['’]appelle ${name}`,
  `^(?:me llamo|mi nombre es) ${name}`,
  `^(?:mi chiamo|il mio nome è) ${name}`,
  `^(?:me chamo|meu nome é|o meu nome é) ${name}`,
  `^меня зовут ${name}`,
  `^nama saya (?:ialah |adalah )?${name}`,
  '^(?:我叫|我的名字是|我的名字叫)(?<value>[^，。,.!！]{1,20})[。.!！]*$',
  '^(?:私の名前は)(?<value>[^、。,.!！]{1,20}?)(?:です)?[。.!！]*$',
  '^(?:제|내) 이름은 (?<value>\\S{1,20}?)(?:입니다|이에요|예요|이야|야)?[.!]*$',
];
const languageNames: ReadonlyMap<string, string> = new Map([
  ['english', 'en'],
  ['german', 'de'],
  ['deutsch', 'de'],
  ['spanish', 'es'],
  ['español', 'es'],
  ['french', 'fr'],
  ['français', 'fr'],
  ['italian', 'it'],
  ['italiano', 'it'],
  ['portuguese', 'pt'],
  ['português', 'pt'],
  ['russian', 'ru'],
  ['по-русски', 'ru'],
  ['malay', 'ms'],
  ['japanese', 'ja'],
  ['korean', 'ko'],
  ['chinese', 'zh_CN'],
  ['中文', 'zh_CN'],
  ['日本語', 'ja'],
  ['한국어', 'ko'],
]);
const languagePatterns = [
  '\\b(?:reply|answer|respond|write|speak|talk)(?: to me)?(?: always)? (?:only )?in (?<value>[a-z]+)\\b',
  '\\b(?:my|preferred) language is (?<value>[a-z]+)\\b',
  '\\bantworte(?: mir)?(?: immer)?(?: bitte)? auf (?<value>deutsch)\\b',
  '\\bresponde(?:me)? (?:siempre )?en (?<value>español)',
  '\\bréponds(?:-moi)? (?:toujours )?en (?<value>français)',
  '\\brispondi(?:mi)? (?:sempre )?in (?<value>italiano)',
  '\\bresponda?(?:-me)? (?:sempre )?em (?<value>português)',
  '(?<value>по-русски)',
  '(?:用|使用)(?<value>中文)',
  '(?<value>日本語)で',
  '(?<value>한국어)로',
];

interface Rule {
  readonly fact: string;
  readonly patterns: readonly RegExp[];
  readonly toFact: (found: string) => string | undefined;
}

const compiled = (patterns: readonly string[]) => patterns.map((pattern) => new RegExp(pattern, 'iu'));
const rules: readonly Rule[] = [
  { fact: 'display_name', patterns: compiled(names), toFact: (found) => found.trim() },
  {
    fact: 'language',
    patterns: compiled(languagePatterns),
    toFact: (found) => languageNames.get(found.toLowerCase()),
  },
  {
    fact: 'timezone',
    patterns: compiled(['\\btime ?zone is (?<value>[A-Za-z_]+/[A-Za-z_/]+|(?:UTC|GMT)(?:[+-]\\d{1,2}(?::\\d\\d)?)?)']),
    toFact: (found) => found,
  },
];
/** Facts that list the contents of memories, one on each line. */
const lists = { preference: 'preferences', instruction: 'standing_instructions' } as const;

const types = ['preference', 'instruction'] as const;

type Facts = Record<string, DerivedFact>;

/** The newest match of a rule decides. */
function applyRules(evidence: readonly Evidence[]): Facts {
  const facts: Facts = {};
  const newestFirst = evidence.toSorted(
    (left, right) => right.updatedAt.getTime() - left.updatedAt.getTime() || right.seq - left.seq,
  );
  for (const { id, content } of newestFirst) {
    for (const { fact, patterns, toFact } of rules) {
      if (facts[fact] !== undefined) continue;
      const found = patterns
        .map((pattern) => pattern.exec(content)?.groups?.value)
        .find((value) => value !== undefined);
      const value = found === undefined ? undefined : toFact(found);
      if (value !== undefined) facts[fact] = { value, evidence: [id] };
    }
  }
  return facts;
}

/** Lists as many whole contents as fit. Skips a content that alone is too long. */
function listOf(memories: readonly Evidence[]): DerivedFact | undefined {
  const lines: string[] = [];
  const ids: string[] = [];
  let length = 0;
  for (const { id, content } of memories) {
    const line = content.replace(/\s+/gu, ' ').trim();
    if (line === '' || length + line.length > longestFact) continue;
    lines.push(line);
    ids.push(id);
    length += line.length + 1;
  }
  return lines.length === 0 ? undefined : { value: lines.join('\n'), evidence: ids };
}
