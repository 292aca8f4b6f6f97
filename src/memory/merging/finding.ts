/**
 * Finds the memory that a content is merged into, and those that it conflicts with, among an entity's memories of one
 * type. The writer holds the lock of the entity, or compares its version when it writes, so that the second of two
 * concurrent similar contents finds the first.
 */
import { createPacer } from '#platform/concurrency.ts';
import type { Entity, LinkKind, MemoryType } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { findContents, findDistinctions, findMemory, type Link, type StoredMemory } from '../memories/memorystore.ts';
import type { EntityIndex } from '../search/entityindex.ts';
import { compare } from '../search/searching.ts';
import type { Handle } from '../tables.ts';
import { hashContent } from '../text.ts';
import { exchangesCases, isListed, isSameForm, keepsPartners, longestStatement, showsRoles } from './canonical.ts';
import data from './languages.json' with { type: 'json' };
import { areOpposites, type Lexicon, type Token, type TokenKind } from './lexicon.ts';
import {
  coordinates,
  type Draft,
  draft,
  formsTogether,
  lexiconTogether,
  type Reading,
  read,
  readTogether,
} from './reading.ts';

interface Neighbours {
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
  const isReworded =
    keepsPartners(forms[0].written, forms[1].written) &&
    forms[0].canonical.some((one) => forms[1].canonical.some((other) => isSameForm(one, other)));
  const isEqual = !isCeased && readsTheSame(...readings);
  const isFuller = elaborates(...readings);
  const isRestricted = restricting.test(left.text) !== restricting.test(right.text);
  const isSame = !areExchanged && !isRestricted && (isEqual || isFuller || isReordered || isReworded);
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
  /\b(?:no longer|not anymore|any ?more|not any longer|nicht mehr|kein(?:e|en)? .{0,40}mehr|ya no|já não|não .{0,40} mais(?! (?:do )?que)|tidak lagi|bukan lagi)\b|\bn(?:e |['’]).{0,40}plus\b(?! qu)|\bnon .{0,40}più(?!\p{L}| che)|больше не|不再|もう.*(?:ない|ません)|더 이상/iu;

/** "No more than one". */
const restricting = /\bn(?:e |['’]).{0,40}plus qu|\b(?:non? .{0,40}(?:più che|más que)|não .{0,40}mais (?:do )?que) /iu;
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

// Compares two contents word by word (docs/specification/memory.md#adding): whether they read the same, one adds to the
// other, or they contradict each other by a negation, a number, a date, by opposites or in who does what to whom.

/** Returns true for pairs such as "for ten years" and "for 10 years". */
function readsTheSame(left: Reading, right: Reading): boolean {
  if (left.length === 0 || left.every(({ kind }) => kind === 'symbol')) return false;
  if (joined(left) === joined(right)) return true;
  const [one, other] = [left.filter(isOfWeight), right.filter(isOfWeight)];
  if (one.length !== other.length || one.some((_, place) => !alikeAt(one, other, place, place))) return false;
  const found = align(left, right);
  return found !== undefined && leavesOutI(found);
}

/** Only one of the two names the speaker. Where both do, at different places: "only I like it", "I only like it". */
function leavesOutI({ left, right }: Alignment): boolean {
  return (left.length === 0 || right.length === 0) && [...left, ...right].every((token) => !isOfWeight(token));
}

/** Returns true for "I eat gluten" and "I avoid gluten": there is a negation, and apart from the negation, one has a single word more. */
export function isNegated(left: Reading, right: Reading): boolean {
  if (sameItems(left, right, 'negation')) return false;
  const rest = (reading: Reading) => reading.filter(({ kind }) => kind !== 'negation');
  const found = align(rest(left), rest(right));
  const shared = rest(left).filter((token) => isOfWeight(token)).length - (found?.left.filter(isOfWeight).length ?? 0);
  return found !== undefined && shared > 0 && [...found.left, ...found.right].filter(isOfWeight).length <= 1;
}

/**
 * Whether two contents contradict each other: one has another value than the other in the same place, and nothing else
 * differs. A single word more is allowed on one side: "I eat fish", "I eat neither fish nor meat".
 */
export function contradicts(left: Reading | undefined, right: Reading | undefined, lexicon: Lexicon): boolean {
  if (left === undefined || right === undefined || left.length * right.length > mostPairs) return false;
  const differing = (['negation', 'number', 'date'] as const).filter((kind) => !sameItems(left, right, kind));
  const [kind, second] = differing;
  if (second !== undefined) return false;
  const rest = (reading: Reading) => reading.filter((token) => token.kind !== kind && isOfWeight(token));
  const [onlyLeft, onlyRight] = differenceOf(rest(left), rest(right));
  const isAligned = rest(left).length > onlyLeft.length;
  if (kind !== undefined) return isAligned && differOnlyIn(kind, [left, right], [onlyLeft, onlyRight]);
  if (onlyLeft.length === 0 && onlyRight.length === 0)
    return sameItems(left, right, 'person') && areExchanged(left, right, lexicon);
  const contentOf = (only: Reading) => rest(only).filter(isContent);
  const haveOpposites = (some: Reading, all: Reading) =>
    some.every(({ value }) => all.some((other) => areOpposites(value, other.value)));
  const isShared = (only: Reading) => (token: Token) => !only.includes(token);
  return (
    isAligned &&
    onlyLeft.some(({ value }) => onlyRight.some((other) => areOpposites(value, other.value))) &&
    haveOpposites(contentOf(onlyLeft), onlyRight) &&
    haveOpposites(contentOf(onlyRight), onlyLeft) &&
    // "Older than my brother" is no contradiction of "my brother is younger".
    inOneOrder(rest(left).filter(isShared(onlyLeft)), rest(right).filter(isShared(onlyRight)))
  );
}

/** Whether both have a value, or one of them a negation, and at most one of them a word more. */
function differOnlyIn(kind: TokenKind, [left, right]: readonly [Reading, Reading], only: readonly [Reading, Reading]) {
  const count = (reading: Reading) => reading.filter((token) => token.kind === kind).length;
  if (weigh(only[0]) + weigh(only[1]) > 1) return false;
  // "Lactose intolerant" agrees with "no lactose".
  if (kind === 'negation') return !only.some((tokens) => tokens.some(({ value }) => negating.test(value)));
  // Another unit, such as "2 km" and "2000 m", is no other value.
  return count(left) === count(right) && only.some(({ length }) => length === 0);
}

/** Words that negate without a negation. */
const negating = /^(?:un(?!i|der)|intol|non)|(?:intoleran\w*|free|less|frei|los|vrij|loos)$/;

const inOneOrder = (left: Reading, right: Reading) =>
  left.length === right.length &&
  left.every((token, place) => areAlike(token, right[place] as Token) || areForms(token, right[place] as Token));

/** The longest parts that can be exchanged, in tokens. */
const longestExchanged = 4;

/**
 * "Dan left Ann" and "Ann left Dan": two parts of otherwise equal statements are exchanged across a verb or a direction. What
 * is only moved, such as a time or a phrase with a preposition, exchanges no roles.
 */
function areExchanged(left: Reading, right: Reading, lexicon: Lexicon): boolean {
  const { length } = left;
  if (length !== right.length || length > longestOfExchange) return false;
  const equal = (start: number, other: number, count: number) =>
    inOneOrder(left.slice(start, start + count), right.slice(other, other + count));
  for (let start = 0; start < length && equal(0, 0, start); start += 1)
    for (let end = length; end > start + 2 && equal(end, end, length - end); end -= 1)
      for (let first = 1; first <= longestExchanged; first += 1)
        for (let second = 1; second <= longestExchanged && start + first + second < end; second += 1) {
          const middle = end - start - first - second;
          const isExchange =
            equal(start, end - first, first) &&
            equal(start + first, start + second, middle) &&
            equal(end - second, start, second);
          if (!isExchange) continue;
          const parts = [
            [left.slice(start, start + first), right.slice(end - first, end)],
            [left.slice(end - second, end), right.slice(start, start + second)],
          ] as const;
          const pivot = left.slice(start + first, start + first + middle);
          if (pivot.some((token) => isPivot(token, lexicon)) && haveOtherRoles(parts, lexicon)) return true;
        }
  return false;
}

const longestOfExchange = 40;

const isPivot = (token: Token, { language }: Lexicon) =>
  (token.kind === 'word' || token.kind === 'turning') &&
  !coordinates(token.value, language.code) &&
  !isListed('copulas', token.written ?? token.value, language.code);

/** `parts`: each as it is in both contents. */
function haveOtherRoles(parts: readonly (readonly [Reading, Reading])[], { language }: Lexicon): boolean {
  const written = (reading: Reading) => reading.map((token) => token.written ?? token.value).join(' ');
  const areMoved = parts.some(([here]) =>
    here.some(({ kind, written, value }, place) =>
      place === 0 && isListed('markers', written ?? value, language.code)
        ? true
        : ['time', 'date', 'number'].includes(kind),
    ),
  );
  if (areMoved) return false;
  // "I" stays a subject in any place, and where endings show the roles, an unchanged word keeps its role.
  return !parts.some(
    ([here, there]) => written(here) === written(there) && (showsRoles(language.code) || isSpeaker(here)),
  );
}

const isSpeaker = ([token, ...others]: Reading) => token?.value === '<i>' && others.length === 0;

const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]$/u;
const directions = new Set(['=from', '=to', '=on', '=in']);

/** Words of up to two letters are mostly prepositions and particles. */
const isContent = ({ value }: Token) => (value.length > 2 || unspaced.test(value)) && !directions.has(value);

/** Counts the content words. Where words are cut into characters, most have two. */
const weigh = (tokens: Reading) =>
  tokens.filter(isContent).reduce((sum, { value }) => sum + (unspaced.test(value) ? 0.5 : 1), 0);

/** "Smoke" and "smoking": words that begin alike. */
function areForms(left: Token, right: Token): boolean {
  if (left.kind !== 'word' || right.kind !== 'word' || left.value[0] !== right.value[0]) return false;
  if (areOpposites(left.value, right.value)) return false;
  const [short = '', long = ''] = [left.value, right.value].sort((one, other) => one.length - other.length);
  let alike = 0;
  while (alike < short.length && short[alike] === long[alike]) alike += 1;
  return alike >= Math.max(1, Math.min(3, short.length - 1)) && alike >= Math.floor(long.length / 2);
}

/** The tokens that only one of the two has, in any order. */
function differenceOf(left: Reading, right: Reading): readonly [Reading, Reading] {
  const onlyRight = [...right];
  const onlyLeft = left.filter((token) => {
    const place = onlyRight.findIndex((other) => areAlike(token, other) || areForms(token, other));
    if (place >= 0) onlyRight.splice(place, 1);
    return place < 0;
  });
  return [onlyLeft, onlyRight];
}

/** Counts the distinct words of a content. The fuller of two contents survives a merge. */
function fullness(reading: Reading): number {
  return new Set(reading.filter(({ kind }) => kind !== 'person').map(({ value }) => value)).size;
}

/** "Rain coat" and "raincoat" are equal when joined. */
const joined = (reading: Reading) => reading.map(({ value }) => value).join('');

/** Writers often leave out that they speak of themselves. */
function isOfWeight({ kind, value }: Token): boolean {
  return !(kind === 'person' && value === '<i>');
}

function sameItems(left: Reading, right: Reading, kind: Token['kind']): boolean {
  const items = (reading: Reading) => reading.filter((token) => token.kind === kind).map(({ value }) => value);
  const [one, other] = [items(left), items(right)];
  return one.length === other.length && one.sort().join(' ') === other.sort().join(' ');
}

/**
 * Returns whether one only adds to a complete statement of the user: "I live in Oslo", "I live in Oslo with my wife". An
 * addition to a wish or a habit narrows it.
 */
export function elaborates(left: Reading, right: Reading): boolean {
  const [shorter, longer] = left.length < right.length ? [left, right] : [right, left];
  if (shorter[0]?.kind !== 'person') return false;
  if (shorter.some(({ value, isAttitude }, place) => longer[place]?.value !== value || isAttitude === true))
    return false;
  if (shorter.some(({ kind, value }) => kind === 'turning' || value === '=like' || value === '=hate')) return false;
  const added = longer.slice(shorter.length);
  return (
    added.length >= 2 &&
    added[0]?.elaborates === true &&
    added.every(({ kind }) => kind === 'word' || kind === 'person')
  );
}

/** The work that one comparison may take, in pairs of tokens. */
const mostPairs = 250_000;

interface Alignment {
  /** The tokens that only the left reading has. */
  readonly left: Reading;
  readonly right: Reading;
}

function areAlike(left: Token, right: Token): boolean {
  if (left.value === right.value) return true;
  return left.singular !== undefined && left.singular === right.singular;
}

/** Returns `undefined` for readings that differ too far for a comparison. */
function align(left: Reading, right: Reading): Alignment | undefined {
  let start = 0;
  while (start < left.length && start < right.length && alikeAt(left, right, start, start)) start += 1;
  let [leftEnd, rightEnd] = [left.length, right.length];
  while (leftEnd > start && rightEnd > start && alikeAt(left, right, leftEnd - 1, rightEnd - 1)) {
    leftEnd -= 1;
    rightEnd -= 1;
  }
  return alignParts(left.slice(start, leftEnd), right.slice(start, rightEnd));
}

function alikeAt(left: Reading, right: Reading, leftPlace: number, rightPlace: number): boolean {
  const [one, other] = [left[leftPlace], right[rightPlace]];
  return one !== undefined && other !== undefined && areAlike(one, other);
}

function alignParts(left: Reading, right: Reading): Alignment | undefined {
  if (left.length * right.length > mostPairs) return undefined;
  const width = right.length + 1;
  /** The length of the longest common subsequence of the rests from a pair of places. */
  const lengths = new Uint16Array((left.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1)
    for (let column = right.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] = alikeAt(left, right, row, column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
  const only = { left: [] as Token[], right: [] as Token[] };
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    const [one, other] = [left[row], right[column]];
    if (one !== undefined && other !== undefined && areAlike(one, other)) {
      row += 1;
      column += 1;
      continue;
    }
    if (one !== undefined && (other === undefined || at(row + 1, column) >= at(row, column + 1))) {
      only.left.push(one);
      row += 1;
    } else if (other !== undefined) {
      only.right.push(other);
      column += 1;
    }
  }
  return only;
}
