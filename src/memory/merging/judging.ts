/**
 * Decides whether two contents can be one memory (docs/specification/memory.md#adding). A pair that differs in a
 * negation, a number, a date, in who does what to whom or by opposites cannot, however similar its vectors are.
 */
import { type Alignment, align } from './aligning.ts';
import { areOpposites, type Token } from './lexicon.ts';
import type { Reading } from './reading.ts';

export type Verdict = 'same' | 'negation' | 'number' | 'date' | 'roles' | 'opposite' | 'narrower' | 'words';

/**
 * A `lexical` embedder compares words and not meanings, so the content words must be the same. With other embedders,
 * listed words, names, a single exchanged word and the order of shared words can separate two contents.
 */
export function judge(left: Reading, right: Reading, lexical: boolean): Verdict {
  for (const kind of ['negation', 'number', 'date'] as const) if (!sameItems(left, right, kind)) return kind;
  if (joined(left) === joined(right)) return 'same';
  const found = align(left, right);
  if (found === undefined) return 'words';
  const isSwapped = [found.left, found.right].every((tokens) => !tokens.every(isOfWeight));
  if (isSwapped && found.left.length + found.right.length > 2) return 'roles';
  const [onlyLeft, onlyRight] = [found.left.filter(isOfWeight), found.right.filter(isOfWeight)];
  if (onlyLeft.some((one) => onlyRight.some((other) => areOpposites(one.value, other.value)))) return 'opposite';
  if (onlyLeft.length === 0 && onlyRight.length === 0) return 'same';
  if (sameValues(onlyLeft, onlyRight)) return onlyLeft.every(({ kind }) => kind === 'time') ? 'same' : 'roles';
  if (onlyLeft.length === 0 || onlyRight.length === 0) {
    const [shorter, longer] = onlyLeft.length === 0 ? [left, right] : [right, left];
    return elaborates(shorter, longer) ? 'same' : 'narrower';
  }
  if (sharedOrder(left, right).join(' ') !== sharedOrder(right, left).join(' ')) return 'roles';
  if (!sameItems(left, right, 'person') && isSameBut(left, right, 'person')) return 'roles';
  if (lexical) return 'words';
  if ([...onlyLeft, ...onlyRight].some(({ kind }) => kind === 'turning' || kind === 'symbol')) return 'words';
  if (isOneExchange(found)) return 'words';
  // Apart from connecting words, one only adds to the other: "the cat with the hat", "the cat in the hat box".
  const connects = (tokens: Reading) => tokens.every(({ elaborates }) => elaborates === true);
  if (connects(onlyLeft) !== connects(onlyRight)) return 'words';
  const named = (tokens: Reading) => tokens.some(({ isName }) => isName === true);
  return named(onlyLeft) && named(onlyRight) ? 'words' : 'same';
}

/** Returns true for pairs such as "for ten years" and "for 10 years". */
export function readsTheSame(left: Reading, right: Reading): boolean {
  if (left.length === 0 || left.every(({ kind }) => kind === 'symbol')) return false;
  if (joined(left) === joined(right)) return true;
  const found = align(left, right);
  return found !== undefined && [...found.left, ...found.right].every((token) => !isOfWeight(token));
}

/** Returns whether two contents are equal apart from tokens of one kind. */
export function isSameBut(left: Reading, right: Reading, kind: Token['kind']): boolean {
  const rest = (reading: Reading) =>
    reading
      .filter((token) => token.kind !== kind)
      .map(({ value }) => value)
      .join(' ');
  return rest(left) === rest(right);
}

/** Returns true for "I eat gluten" and "I avoid gluten": apart from the negation, one has a single word more. */
export function isNegated(left: Reading, right: Reading): boolean {
  const rest = (reading: Reading) => reading.filter(({ kind }) => kind !== 'negation');
  const found = align(rest(left), rest(right));
  const shared = rest(left).filter((token) => isOfWeight(token)).length - (found?.left.filter(isOfWeight).length ?? 0);
  return found !== undefined && shared > 0 && [...found.left, ...found.right].filter(isOfWeight).length <= 1;
}

/** Returns whether two contents are equal apart from opposites. */
export function isSameButOpposites(left: Reading, right: Reading): boolean {
  const found = align(left, right);
  return (
    found !== undefined &&
    found.left.length === found.right.length &&
    found.left.every(({ value }, place) => areOpposites(value, found.right[place]?.value ?? ''))
  );
}

/** Counts the distinct words of a content. The fuller of two contents survives a merge. */
export function fullness(reading: Reading): number {
  return new Set(reading.filter(({ kind }) => kind !== 'person').map(({ value }) => value)).size;
}

/** The longest word of a script without spaces, whose tokens are characters. */
const longestUnspaced = 8;
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u30FC]$/u;

/** One exchanged word makes another fact: "My sister is Anna", "My brother is Anna". */
function isOneExchange({ left, right, gaps, middles }: Alignment): boolean {
  if (gaps === 1 && left.filter(isOfWeight).length === 1 && right.filter(isOfWeight).length === 1) return true;
  return middles.every(
    (tokens) =>
      tokens.length <= longestUnspaced &&
      tokens.every(({ kind, value }) => kind === 'person' || value.startsWith('=') || unspaced.test(value)),
  );
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
 * Returns whether `longer` only adds to a complete statement of the user: "I live in Oslo", "I live in Oslo with my
 * wife". An addition to a wish or a habit narrows it.
 */
function elaborates(shorter: Reading, longer: Reading): boolean {
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

/** Returns the tokens that occur exactly once in each of the two, in the order of `reading`. */
function sharedOrder(reading: Reading, other: Reading): readonly string[] {
  const once = (tokens: Reading) => {
    const seen = new Map<string, number>();
    for (const { value } of tokens) seen.set(value, (seen.get(value) ?? 0) + 1);
    return seen;
  };
  const [here, there] = [once(reading), once(other)];
  return reading
    .filter(({ kind }) => kind !== 'time')
    .map(({ value }) => value)
    .filter((value) => here.get(value) === 1 && there.get(value) === 1);
}
