/**
 * Whether two contents may be one memory (docs/specification/memory.md#adding): a pair that differs in a negation, a number, a date or in who does
 * what to whom may not, however alike its vectors are. Differences of order are found by the words that both have.
 */
import type { Reading, Token } from './reading.ts';

export type Verdict = 'same' | 'negation' | 'number' | 'date' | 'roles' | 'words';

/** Words whose coming or going turns the sense. */
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
 * `lexical`: the embedder sees words, not meanings, so that one of the two has to hold the other. Otherwise wordings may
 * differ, and only what the tables list, and the order of the words that both have, is looked at.
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

/** Such as "for ten years" and "for 10 years". */
export function readsTheSame(left: Reading, right: Reading): boolean {
  return left.length > 0 && left.length === right.length && left.every(({ value }, at) => value === right[at]?.value);
}

/** Whether two contents say the same apart from tokens of one kind. */
export function isSameBut(left: Reading, right: Reading, kind: Token['kind']): boolean {
  const rest = (reading: Reading) =>
    reading
      .filter((token) => token.kind !== kind)
      .map(({ value }) => value)
      .join(' ');
  return rest(left) === rest(right);
}

/** How much a content says: the fuller of two survives a merge. */
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

/** What `longer` says beyond `shorter`, which has to stand in it in its order; `undefined`: it does not. */
function extrasOf(shorter: Reading, longer: Reading): readonly Token[] | undefined {
  const extras: Token[] = [];
  let found = 0;
  for (const token of longer) {
    if (token.value === shorter[found]?.value) found += 1;
    else extras.push(token);
  }
  return found === shorter.length ? extras : undefined;
}

/** The tokens of `reading` that stand once in each of the two, in its order. */
function sharedOrder(reading: Reading, other: Reading): readonly string[] {
  const once = (tokens: Reading) => {
    const seen = new Map<string, number>();
    for (const { value } of tokens) seen.set(value, (seen.get(value) ?? 0) + 1);
    return seen;
  };
  const [here, there] = [once(reading), once(other)];
  return reading.map(({ value }) => value).filter((value) => here.get(value) === 1 && there.get(value) === 1);
}
