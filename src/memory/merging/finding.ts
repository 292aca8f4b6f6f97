/**
 * Finds the memory that a content is merged into, and those that it conflicts with, among an entity's memories of one
 * type. The writer holds the lock of the entity, or compares its version when it writes, so that the second of two
 * concurrent similar contents finds the first.
 */

import { createPacer } from '#platform/concurrency.ts';
import type { Entity, LinkKind, MemoryType } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { findDistinctions, type Link } from '../memories/historystore.ts';
import { findContents, findMemory, type StoredMemory } from '../memories/memorystore.ts';
import type { EntityIndex } from '../search/entityindex.ts';
import { compare } from '../search/ranking.ts';
import type { Handle } from '../tables.ts';
import { hashContent } from '../text/hashing.ts';
import { exchangesCases, isSameForm, longestStatement } from './canonical.ts';
import { contradicts, elaborates, fullness, isNegated, readsTheSame } from './judging.ts';
import data from './languages.json' with { type: 'json' };
import { type Draft, draft, formsTogether, lexiconTogether, read, readTogether } from './reading.ts';

export interface Neighbours {
  readonly twin: { readonly memory: StoredMemory; readonly similarity: number } | undefined;
  /** Links to store with a new memory. */
  readonly links: readonly Link[];
  /** The memories that the content corrects. */
  readonly corrected: readonly string[];
}

/** Pairs below this similarity are two memories. Other words can take phrasings of one fact this far apart. */
const readAbove = 0.3;
const mostCandidates = 20;

/** `index`: the present memories of the entity. */
export async function findNeighbours(
  deps: MemoryContext,
  db: Handle,
  entity: Entity,
  index: EntityIndex,
  sought: {
    readonly content: string;
    readonly type: MemoryType;
    readonly embedding: Float32Array;
    /** The memory that is being edited. */
    readonly exceptId?: string;
  },
): Promise<Neighbours> {
  const similarities = await compare(db, deps, entity, index, sought.embedding);
  const isCorrecting = isCorrection(sought.content);
  const near = [...similarities]
    .filter(([id, similarity]) => similarity > (isCorrecting ? 0 : readAbove) && id !== sought.exceptId)
    .filter(([id]) => index.memories.get(id)?.type === sought.type)
    .sort(([, left], [, right]) => right - left)
    .slice(0, mostCandidates);
  if (near.length === 0) return { twin: undefined, links: [], corrected: [] };
  const contents = await findContents(
    db,
    near.map(([id]) => id),
  );

  let distinct: ReadonlySet<string> | undefined;
  const readDistinctions = () => findDistinctions(db, entity, sought.type, hashContent(sought.content));
  const pace = createPacer();
  const soughtDraft = draft(sought.content);
  let twin: Neighbours['twin'];
  const links: Link[] = [];
  const corrected: string[] = [];
  for (const [id, similarity] of near) {
    const content = contents.get(id);
    if (content === undefined) continue;
    await pace();
    const { mergeAbove } = deps;
    const isJudged = deps.requestJudgement !== undefined;
    const { isTwin, link, isNegation } = comparePair(soughtDraft, draft(content), { similarity, mergeAbove, isJudged });
    if (isTwin && twin === undefined) {
      distinct ??= await readDistinctions();
      const memory = distinct.has(hashContent(content).toString('hex')) ? undefined : await findMemory(db, id);
      if (memory !== undefined) twin = { memory, similarity };
    }
    if (isCorrecting && corrects(sought.content, content, isNegation)) corrected.push(id);
    else if (link !== undefined) links.push({ id, kind: link });
  }
  return { twin, links, corrected };
}

/** Whether a content is at least as full as another one. */
export function isAtLeastAsFull(content: string, other: string): boolean {
  return fullness(read(content)) >= fullness(read(other));
}

interface ComparingOptions {
  /** Calibrated. */
  readonly similarity: number;
  /** Contents merge above this similarity (docs/specification/memory.md#adding). */
  readonly mergeAbove: number;
  /** A language model compares them later, so that only equal statements merge now. */
  readonly isJudged?: boolean;
}

interface Comparison {
  /** The two can be one memory. */
  readonly isTwin: boolean;
  /** The link that two memories get. */
  readonly link: LinkKind | undefined;
  /** Apart from a negation, both say the same. */
  readonly isNegation: boolean;
}

/** What two contents of one entity and type are to each other: one memory, two linked ones, or two. */
export function comparePair(left: Draft, right: Draft, options: ComparingOptions): Comparison {
  const readings = readTogether(left, right);
  const forms = formsTogether(left, right);
  const lexicon = lexiconTogether(left, right);
  const isLike = options.similarity > options.mergeAbove;
  const isJudged = options.isJudged === true;
  const areExchanged = exchangesCases(left.text, right.text, lexicon.language.code);
  // "No longer" states a former habit, which "not" does not.
  const isCeased = ceases(left) !== ceases(right);
  const isReordered = !isCeased && isSameForm(forms[0].written, forms[1].written);
  const isReworded = forms[0].canonical.some((one) => forms[1].canonical.some((other) => isSameForm(one, other)));
  const isEqual = !isCeased && readsTheSame(...readings);
  const isFuller = elaborates(...readings);
  const isSame = !areExchanged && (isEqual || isFuller || isReordered || isReworded);
  const isApart =
    !isSame && (contradicts(...readings, lexicon) || contradicts(forms[0].reading, forms[1].reading, lexicon));
  return {
    isTwin:
      isSame &&
      (isEqual ||
        (options.similarity > readAbove && (isReordered || (isReworded && !isJudged))) ||
        (isLike && isFuller && !isJudged)),
    link: isApart ? 'conflict' : isLike ? 'related' : undefined,
    isNegation: isNegated(...readings),
  };
}

// Statements by which an older one does not hold any more: a move to another place, what the user no longer does, and what
// they do now instead. Only whole statements of the user count, because a wrong correction would hide a fact.

const compile = (patterns: readonly string[]) => patterns.map((pattern) => new RegExp(pattern, 'iu'));
const [homePatterns, movePatterns] = [compile(data.homes), compile(data.moves)];
/** A stay or a move in the past, or one that is planned. */
const otherTimes =
  /\b(?:ago|when|once|as a child|until|for a|vor|als|hace|cuando|il y a|quand|quando|fa|há|lalu|masa)\b|назад|когда|时候|時候|前に|때/iu;
const now = /\b(?:now|jetzt|nun|ahora|maintenant|ora|agora|kini|sekarang)\b|теперь|сейчас|现在|現在|今は|지금/iu;
const ceasing =
  /\b(?:no longer|not anymore|any ?more|not any longer|nicht mehr|kein(?:e|en)? .{0,40}mehr|ya no|já não|não .{0,40} mais|tidak lagi|bukan lagi)\b|\bne .{0,40}plus\b|\bn['’].{0,40}plus\b|\bnon .{0,40}più(?!\p{L})|больше не|不再|もう.*(?:ない|ません)|더 이상/iu;

const ceases = ({ text }: Draft) => text.length <= longestStatement && ceasing.test(text);

/** "Instead of coffee". */
const instead = data.instead.map(
  (pattern) => new RegExp(`(?<![\\p{Script=Latin}\\p{Script=Cyrillic}])${pattern}`, 'iu'),
);

function placeIn(patterns: readonly RegExp[], content: string): string | undefined {
  if (otherTimes.test(content)) return undefined;
  const found = patterns.map((pattern) => pattern.exec(content)?.groups?.place).find((one) => one !== undefined);
  return found?.replace(now, '').trim().toLowerCase();
}

/** Whether a content can correct others, which are then compared even if they are not similar. */
function isCorrection(content: string): boolean {
  return ceasing.test(content) || newHome(content) !== undefined || exchangeIn(content) !== undefined;
}

function newHome(content: string): string | undefined {
  return placeIn(movePatterns, content) ?? (now.test(content) ? placeIn(homePatterns, content) : undefined);
}

/** What "I now drink tea instead of coffee" states, without "instead of coffee", and the coffee. */
function exchangeIn(content: string): { readonly rest: string; readonly former: string } | undefined {
  if (!now.test(content)) return undefined;
  const found = instead.map((pattern) => pattern.exec(content)).find((one) => one !== null);
  const former = found?.groups?.former;
  return former === undefined ? undefined : { rest: content.replace(found?.[0] ?? '', ' ').replace(now, ' '), former };
}

const bare = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[.!。！]{1,3}$/, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu, '')
    .trim();

/** Whether the newer content is the older one with something else in place of what is given up. */
function isExchanged(content: string, older: string): boolean {
  const exchange = exchangeIn(content);
  if (exchange === undefined || read(older).some(({ kind }) => kind === 'negation')) return false;
  const [rest, former, before] = [exchange.rest, exchange.former, older].map(bare);
  const [begin, end, ...others] = before?.split(former ?? '') ?? [];
  if (begin === undefined || end === undefined || others.length > 0 || begin + end === '') return false;
  return rest?.startsWith(begin) === true && rest.endsWith(end) && rest.length > begin.length + end.length;
}

/** `isNegation`: apart from a negation, both say the same. */
function corrects(content: string, older: string, isNegation: boolean): boolean {
  if (isExchanged(content, older)) return true;
  if (isNegation) return ceasing.test(content) && !ceasing.test(older);
  const home = newHome(content);
  const former = placeIn(homePatterns, older) ?? placeIn(movePatterns, older);
  return home !== undefined && former !== undefined && home !== former;
}
