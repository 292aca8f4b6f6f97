/**
 * Decides whether two contents can be one memory (docs/specification/memory.md#adding). A pair that differs in a
 * negation, a number, a date or in who does what to whom cannot, however similar its vectors are. The order of shared
 * words reveals different roles.
 */
import type { Reading, Token } from './reading.ts';

export type Verdict = 'same' | 'negation' | 'number' | 'date' | 'roles' | 'words';

/** Words that change the meaning of a sentence. */
const turning = new Set(
  `and und y et e и dan och en ve và
  but except until till unless if only rarely hardly seldom barely almost nearly former formerly ex used was were had did
  would could should might may maybe perhaps sometimes instead than less more fewer anti stopped stop quit avoid avoids refuse
  refuses after before or previously once once-upon hate hates dislike dislikes despite false wrong deny denies pretend
  aber außer bis wenn nur selten kaum fast früher oder war hatte nach vor weniger mehr
  mais sauf jusqu si seulement rarement presque ancien ou était avant après moins plus
  pero excepto hasta si solo sólo rara casi antes después era menos más o
  ma tranne fino se solo raramente quasi prima dopo era meno più
  mas exceto até só somente raramente quase antes depois menos mais ou
  tetapi kecuali sehingga jika hanya jarang hampir dulu sebelum selepas kurang lebih atau
  но кроме если только редко почти раньше был была после до или меньше больше`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

/**
 * A `lexical` embedder compares words and not meanings, so one content must contain the other. With other embedders,
 * only listed words and the order of shared words can separate two contents.
 */
export function judge(left: Reading, right: Reading, lexical: boolean): Verdict {
  for (const kind of ['negation', 'number', 'date'] as const) if (!sameItems(left, right, kind)) return kind;
  const [shorter, longer] = left.length <= right.length ? [left, right] : [right, left];
  const extras = extrasOf(shorter, longer);
  if (extras?.every(isHarmless)) return 'same';
  if (sharedOrder(left, right).join(' ') !== sharedOrder(right, left).join(' ')) return 'roles';
  if (!sameItems(left, right, 'person') && isSameBut(left, right, 'person')) return 'roles';
  return lexical ? 'words' : 'same';
}

/** Returns true for pairs such as "for ten years" and "for 10 years". */
export function readsTheSame(left: Reading, right: Reading): boolean {
  return left.length > 0 && left.length === right.length && left.every(({ value }, at) => value === right[at]?.value);
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

/** Counts the distinct words of a content. The fuller of two contents survives a merge. */
export function fullness(reading: Reading): number {
  return new Set(reading.filter(({ kind }) => kind !== 'person').map(({ value }) => value)).size;
}

function isHarmless({ kind, value }: Token): boolean {
  if (kind === 'person') return value === '<i>';
  return kind === 'word' && !turning.has(value);
}

function sameItems(left: Reading, right: Reading, kind: Token['kind']): boolean {
  const items = (reading: Reading) =>
    reading
      .filter((token) => token.kind === kind)
      .map(({ value }) => value)
      .sort()
      .join(' ');
  return items(left) === items(right);
}

/**
 * Returns the tokens of `longer` that `shorter` lacks, or `undefined` if it does not contain `shorter` in the same
 * order.
 */
function extrasOf(shorter: Reading, longer: Reading): readonly Token[] | undefined {
  const extras: Token[] = [];
  let found = 0;
  for (const token of longer) {
    if (token.value === shorter[found]?.value) found += 1;
    else extras.push(token);
  }
  return found === shorter.length ? extras : undefined;
}

/** Returns the tokens that occur exactly once in each of the two, in the order of `reading`. */
function sharedOrder(reading: Reading, other: Reading): readonly string[] {
  const once = (tokens: Reading) => {
    const seen = new Map<string, number>();
    for (const { value } of tokens) seen.set(value, (seen.get(value) ?? 0) + 1);
    return seen;
  };
  const [here, there] = [once(reading), once(other)];
  return reading.map(({ value }) => value).filter((value) => here.get(value) === 1 && there.get(value) === 1);
}
