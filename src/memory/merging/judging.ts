/**
 * Compares two contents word by word (docs/specification/memory.md#adding): whether they read the same, one adds to the
 * other, or they contradict each other by a negation, a number, a date, by opposites or in who does what to whom.
 */
import { isCopula, marks, showsRoles } from './canonical.ts';
import { areOpposites, type Lexicon, type Token, type TokenKind } from './lexicon.ts';
import { coordinates, type Reading } from './reading.ts';

/** Returns true for pairs such as "for ten years" and "for 10 years". */
export function readsTheSame(left: Reading, right: Reading): boolean {
  if (left.length === 0 || left.every(({ kind }) => kind === 'symbol')) return false;
  if (joined(left) === joined(right)) return true;
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
  left.length === right.length && left.every((token, place) => areAlikeOrForms(token, right[place] as Token));

const areAlikeOrForms = (left: Token, right: Token) => areAlike(left, right) || areForms(left, right);

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
  !isCopula(token.written ?? token.value, language.code);

/** `parts`: each as it is in both contents. */
function haveOtherRoles(parts: readonly (readonly [Reading, Reading])[], { language }: Lexicon): boolean {
  const written = (reading: Reading) => reading.map((token) => token.written ?? token.value).join(' ');
  const areMoved = parts.some(([here]) =>
    here.some(({ kind, written, value }, place) =>
      place === 0 && marks(written ?? value, language.code) ? true : ['time', 'date', 'number'].includes(kind),
    ),
  );
  if (areMoved) return false;
  // "I" stays a subject in any place, and where endings show the roles, an unchanged word keeps its role.
  const keepsRole = ([here, there]: readonly [Reading, Reading]) =>
    written(here) === written(there) && (showsRoles(language.code) || isSpeaker(here));
  return !parts.some(keepsRole);
}

const isSpeaker = ([token, ...others]: Reading) => token?.value === '<i>' && others.length === 0;

const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]$/u;
const directions = new Set(['=from', '=to', '=on']);

/** Words of up to two letters are mostly prepositions and particles. */
const isContent = ({ value }: Token) => (value.length > 2 || unspaced.test(value)) && !directions.has(value);

/** Counts the content words. Where words are cut into characters, most have two. */
const weigh = (tokens: Reading) =>
  tokens.filter(isContent).reduce((sum, { value }) => sum + (unspaced.test(value) ? 0.5 : 1), 0);

/** "Smoke" and "smoking": words that begin alike. */
function areForms(left: Token, right: Token): boolean {
  if (left.kind !== 'word' || right.kind !== 'word' || areOpposites(left.value, right.value)) return false;
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
export function fullness(reading: Reading): number {
  return new Set(reading.filter(({ kind }) => kind !== 'person').map(({ value }) => value)).size;
}

/** "Rain coat" and "raincoat" are equal when joined. */
const joined = (reading: Reading) => reading.map(({ value }) => value).join('');

/** Writers often leave out that they speak of themselves. */
function isOfWeight({ kind, value }: Token): boolean {
  return !(kind === 'person' && value === '<i>');
}

function sameItems(left: Reading, right: Reading, kind: Token['kind']): boolean {
  const items = (reading: Reading) => reading.filter((token) => token.kind === kind);
  return sameValues(items(left), items(right));
}

function sameValues(left: Reading, right: Reading): boolean {
  if (left.length === 0 && right.length === 0) return true;
  const values = (reading: Reading) =>
    reading
      .map(({ value }) => value)
      .sort()
      .join(' ');
  return values(left) === values(right);
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
