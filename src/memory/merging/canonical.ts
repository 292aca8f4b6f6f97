/**
 * One form for the wordings of a fact (docs/memory.md#merging). The tables of `canonical.json` rewrite common statements to
 * one wording and synonyms to one word. The words are then joined to units, such as "with my dad", whose order is free where
 * it does not show who does what to whom.
 */
import data from './canonical.json' with { type: 'json' };
import { type Lexicon, split, type Token } from './lexicon.ts';

/** The tables of a language. Lists are separated by commas. */
interface Grammar {
  /**
   * `cases`: endings show the roles, so that the order is free, as with the `particles` of Japanese. `verb`: the verb can
   * stand before the subject, which it does in `second` place. Others keep the order unless "I" is the subject.
   */
  readonly order?: string;
  /** Prepositions, which belong to the next word. In Japanese, particles, which belong to the words before them. */
  readonly markers?: string;
  /** Prepositions that a time can be without: "on Mondays", "Mondays". */
  readonly neutral?: string;
  /** "Every", "last", which make a time of the next word. */
  readonly openers?: string;
  /** Years, mornings and their like. */
  readonly periods?: string;
  /** Words that begin a clause. The order of clauses is fixed. */
  readonly clauses?: string;
  /** "Was", "would", which the lexicon lists among the words that turn the sense. */
  readonly auxiliaries?: string;
  readonly copulas?: string;
  /** Forms of "I" as a subject. */
  readonly subjects?: string;
  readonly possessives?: string;
  /** Articles and possessives whose form shows the case of the next word. */
  readonly determiners?: string;
  /** Parts of the regular expressions, written as `{name}`. */
  readonly parts?: Readonly<Record<string, string>>;
  /** `expression => replacement`, applied in order. `{a|b}` in a replacement means either. */
  readonly rewrites?: readonly string[];
  /** Endings of words and what they become. */
  readonly endings?: readonly string[];
  /** Words of one meaning. Slashes separate their forms, which become those of the first word. */
  readonly synonyms?: readonly string[];
}

interface Rules {
  readonly order: string;
  readonly lists: ReadonlyMap<string, ReadonlySet<string>>;
  readonly rewrites: readonly (readonly [RegExp, string])[];
  readonly endings: readonly (readonly [RegExp, string])[];
  /** By their first word, the longest first. */
  readonly synonyms: ReadonlyMap<string, readonly (readonly [readonly string[], readonly string[]])[]>;
}

type ListName = Exclude<keyof Grammar, 'order' | 'parts' | 'rewrites' | 'endings' | 'synonyms'>;

const grammars: Readonly<Record<string, Grammar | undefined>> = data;
const built = new Map<string, Rules>();

/** The tables are compiled when the first text of a language is compared. */
export function rulesFor(code: string): Rules {
  const known = built.get(code);
  if (known !== undefined) return known;
  const made = build(grammars[code] ?? {});
  built.set(code, made);
  return made;
}

/** In regular expressions, `\b` and `\w` know Latin letters without accents only. */
const inAnyScript = (pattern: string) =>
  pattern
    .replace(/(?<=^|[(|^ ]|\.\*\)?)\\b/g, '(?<![\\p{L}\\p{N}])')
    .replaceAll('\\b', '(?![\\p{L}\\p{N}])')
    .replaceAll('\\w', '[\\p{L}\\p{M}\\p{N}]');

function build(grammar: Grammar): Rules {
  const fill = (pattern: string): string => {
    const filled = pattern.replace(/\{([a-z]+)\}/g, (whole, name: string) => grammar.parts?.[name] ?? whole);
    return filled === pattern ? filled : fill(filled);
  };
  const compile = (pattern: string) => new RegExp(inAnyScript(fill(pattern)), 'gu');
  const pairs = (list: readonly string[] = []) =>
    list.map((line) => {
      const [pattern = '', replacement = ''] = line.split(' => ');
      return [compile(pattern), replacement] as const;
    });
  const synonyms = new Map<string, (readonly [readonly string[], readonly string[]])[]>();
  for (const set of grammar.synonyms ?? []) {
    const [first = [], ...others] = split(set).map((word) => word.split('/'));
    for (const other of others)
      for (const [place, form] of other.entries()) {
        const words = form.split(' ');
        const list = synonyms.get(words[0] ?? '') ?? [];
        list.push([words, (first[place] ?? first[0] ?? '').split(' ')]);
        synonyms.set(words[0] ?? '', list);
      }
  }
  for (const list of synonyms.values()) list.sort(([left], [right]) => right.length - left.length);
  const lists = new Map(
    Object.entries(grammar).map(([name, list]) => [name, new Set(typeof list === 'string' ? split(list) : [])]),
  );
  return {
    order: grammar.order ?? '',
    lists,
    synonyms,
    rewrites: pairs(grammar.rewrites),
    endings: pairs(grammar.endings),
  };
}

/**
 * In characters. Longer texts are not one statement. The time of some expressions is not linear: hostile texts of this length
 * take 6 ms, and of twice the length 72 ms.
 */
export const longestStatement = 160;

/** Whether the endings of words show who does what to whom, so that the order does not. */
export const showsRoles = (code: string) => rulesFor(code).order === 'cases';

/** Whether two words exchange their cases: "mein Vater hilft meinem Onkel", "meinem Vater hilft mein Onkel". */
export function exchangesCases(left: string, right: string, code: string): boolean {
  const determined = (text: string) => {
    const words = text.toLowerCase().split(/[^\p{L}]+/u);
    const isCase = (word: string, place: number) =>
      isListed('determiners', word, code) && !isListed('markers', words[place - 1] ?? '', code);
    return new Map(words.flatMap((word, place) => (isCase(word, place) ? [[words[place + 1] ?? '', word]] : [])));
  };
  if (!rulesFor(code).lists.has('determiners')) return false;
  const [one, other] = [determined(left), determined(right)];
  return [...one].filter(([word, shown]) => other.has(word) && other.get(word) !== shown).length > 1;
}

export const isListed = (list: ListName, word: string, code: string) =>
  rulesFor(code).lists.get(list)?.has(word) === true;

/** Returns the wordings that a text can be rewritten to. A text that is too long has none. */
export function rewrite(text: string, lexicon: Lexicon): readonly string[] {
  if (text.length > longestStatement) return [];
  const lower = text.toLowerCase();
  return [...new Set([lower, withoutFronting(lower, lexicon)])].flatMap((one) => rewriteOne(one, lexicon));
}

function rewriteOne(text: string, lexicon: Lexicon): readonly string[] {
  let one = text
    .replace(/\u0307/g, '')
    .replace(/[,、，](?!\d)|["“”„«»()]| [-–—] /gu, ' ')
    .replace(/(?<![\s.!。！])[\s.!。！]+$/u, '')
    .replace(/\s+/g, ' ')
    .trim();
  for (const [pattern, replacement] of rulesFor(lexicon.language.code).rewrites)
    one = one.replace(pattern, replacement);
  return variants(
    one.replace(/\{clock ([^ }]+) (-?\d+)\}/gu, (_, hour: string, minutes: string) =>
      clock(hour, Number(minutes), lexicon),
    ),
  );
}

/** "In Leeds, my sister teaches" is "my sister teaches in Leeds". */
function withoutFronting(text: string, { language }: Lexicon): string {
  const [phrase = '', rest = '', ...others] = text.replace(/[.!]$/, '').split(', ');
  const isFronted =
    rest !== '' && others.length === 0 && isListed('markers', phrase.split(' ', 1)[0] ?? '', language.code);
  return isFronted ? `${rest} ${phrase}` : text;
}

/** `{clock five 30}` is 5:30, and `{clock seven -15}` is 6:45. */
function clock(hour: string, minutes: number, { entries }: Lexicon): string {
  const listed = entries.get(hour)?.find(({ words, meaning }) => words.length === 1 && meaning.kind === 'number')
    ?.meaning.value;
  const sum = Number(listed ?? hour) * 60 + minutes;
  return Number.isNaN(sum) ? hour : ` ${Math.floor(sum / 60)}:${String(sum % 60).padStart(2, '0')} `;
}

function variants(text: string): readonly string[] {
  const [whole, list] = /\{([^{}]*)\}/.exec(text) ?? [];
  if (whole === undefined || list === undefined) return [text.replace(/\s+/gu, ' ').trim()];
  return list.split('|').flatMap((one) => variants(text.replace(whole, one)));
}

export function withoutSynonyms(words: readonly string[], code: string): readonly string[] {
  const { synonyms } = rulesFor(code);
  const replaced: string[] = [];
  for (let place = 0; place < words.length; ) {
    const found = synonyms
      .get(words[place] ?? '')
      ?.find(([sought]) => sought.every((word, offset) => words[place + offset] === word));
    replaced.push(...(found?.[1] ?? [words[place] ?? '']));
    place += found?.[0].length ?? 1;
  }
  return replaced;
}

/** A word with what belongs to it: "with my dad", "two sons", "every day". */
interface Unit {
  readonly key: string;
  readonly isTime: boolean;
  /** Begins with a preposition, so that it can stand first or last. */
  readonly isMarked: boolean;
  /** Another than the speaker. */
  readonly person: string | undefined;
}

export interface Form {
  readonly order: string;
  readonly units: readonly Unit[];
  readonly bag: string;
  /** Where "I" is the subject, it is left out. */
  readonly isOfSpeaker: boolean;
  readonly hasCopula: boolean;
  /** The order of the words matters: "only", "but", two clauses. */
  readonly isBound: boolean;
}

export function formOf(tokens: readonly Token[], lexicon: Lexicon): Form {
  const { order, endings } = rulesFor(lexicon.language.code);
  const isIn = (name: ListName, word: string) => isListed(name, word, lexicon.language.code);
  const wordOf = ({ written, value }: Token) => written ?? value;
  const isSubject = (token: Token, place: number) =>
    token.value === '<i>' &&
    token.isName !== true &&
    (token.isUser === true || isIn('subjects', wordOf(token))) &&
    // "Older than I".
    (order === 'second' || place === 0 || place < tokens.length - 1) &&
    // In Japanese and for "the user", the subject comes first.
    ((token.isUser !== true && lexicon.language.unspaced !== true) ||
      tokens.slice(0, place).every(({ kind }) => ['time', 'date', 'number'].includes(kind)));
  const isLink = (token: Token) => token.isName !== true && isIn('copulas', wordOf(token));
  const isBound =
    tokens.filter(({ kind }) => kind === 'negation').length > 1 ||
    tokens.filter(isSubject).length > 1 ||
    tokens.some(
      (token) =>
        isIn('clauses', wordOf(token)) ||
        (token.kind === 'turning' && !isIn('auxiliaries', token.value) && !isIn('openers', token.value)),
    );
  const kept = joinNumbers(tokens.filter((token, place) => isBound || !(isSubject(token, place) || isLink(token))));
  const keyOf = (token: Token) => {
    if (token.kind === 'person' && token.isName !== true)
      return isIn('possessives', wordOf(token)) ? `${token.value}'s` : token.value;
    if (token.kind !== 'word' || token.value.startsWith('=')) return token.value;
    const word = token.isName === true ? wordOf(token) : token.value;
    // Decomposed, because endings of Korean verbs change parts of a syllable.
    return endings.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), word.normalize('NFD'));
  };
  const isTimeWord = (token: Token | undefined) =>
    token !== undefined &&
    (token.kind === 'time' || token.kind === 'date' || isMoment(token) || isIn('periods', wordOf(token)));
  const units: Unit[] = [];
  for (let place = 0; place < kept.length; ) {
    const start = place;
    const at = (offset: number) => kept[place + offset];
    const isMarked = order !== 'particles' && isIn('markers', wordOf(kept[place] as Token));
    if (isMarked) place += 1;
    const opens = () => {
      const token = kept[place];
      if (token === undefined || place + 1 >= kept.length) return false;
      if (token.kind === 'number') return !isMoment(token);
      if (token.kind === 'person') return isIn('possessives', wordOf(token)) && !isTimeWord(at(1));
      return isIn('openers', wordOf(token)) && (isTimeWord(at(1)) || at(1)?.kind === 'number');
    };
    while (opens()) place += 1;
    const isTime = isTimeWord(kept[place]);
    if (
      kept[place] !== undefined &&
      !(place > start && isIn('markers', wordOf(kept[place] as Token)) && order !== 'particles')
    )
      place += 1;
    if (order === 'particles' && !isTime)
      while (place < kept.length && !isTimeWord(at(0)) && !isIn('markers', at(-1)?.value ?? '')) place += 1;
    const [first, ...rest] = kept.slice(start, place);
    if (first === undefined) break;
    const isNeutral = isTime && isMarked && isIn('neutral', wordOf(first));
    const parts = isNeutral ? rest : [first, ...rest];
    const person = isMarked ? undefined : parts.find(({ kind, isName }) => kind === 'person' || isName === true)?.value;
    units.push({ key: parts.map(keyOf).join('_'), isTime, isMarked, person });
  }
  return {
    order,
    units,
    bag: units
      .map(({ key }) => key)
      .sort()
      .join(' '),
    isOfSpeaker: kept.length > 0 && tokens.some(isSubject),
    hasCopula: tokens.some(isLink),
    isBound,
  };
}

/** A time of day, or a year. */
const isMoment = (token: Token | undefined) => token?.kind === 'number' && /:|^(?:19|20)\d\d$/.test(token.value);

/** Reads "four thousand" as 4000 and "twenty five" as 25. */
function joinNumbers(tokens: readonly Token[]): readonly Token[] {
  const joined: Token[] = [];
  for (const token of tokens) {
    const last = joined.at(-1);
    const [former, latter] = [Number(last?.value), Number(token.value)];
    const isBoth = last?.kind === 'number' && token.kind === 'number' && former > 0 && latter > 0;
    if (isBoth && latter >= 100 && latter % 100 === 0 && former < latter)
      joined.splice(-1, 1, { ...token, value: String(former * latter) });
    else if (isBoth && former >= 20 && former % 10 === 0 && latter < 10)
      joined.splice(-1, 1, { ...token, value: String(former + latter) });
    else joined.push(token);
  }
  return joined;
}

/** Whether two forms are the same fact: the same units, in an order that changes nothing. */
export function isSameForm(left: Form | undefined, right: Form | undefined): boolean {
  if (left === undefined || right === undefined || left.units.length === 0 || left.bag !== right.bag) return false;
  if (!keepsPartners(left, right) || !isMoved(freeIn(left), freeIn(right))) return false;
  const [one, other] = [withoutTimes(left), withoutTimes(right)];
  if (one.join(' ') === other.join(' ')) return true;
  if (left.isBound || right.isBound) return isTurnedAtMark(left, right);
  return (
    isFree(left, right) || isTurnedAtMark(left, right) || (left.hasCopula && right.hasCopula && isRotated(one, other))
  );
}

/**
 * Whether each word keeps its partner. "I hate cats, like dogs" and "I hate dogs, like cats" exchange them, and so do
 * "coffee in the morning, tea in the evening" and "coffee in the evening, tea in the morning". A phrase whose preposition
 * is in the text once has no other partner, so it can be anywhere.
 */
export function keepsPartners(left: Form | undefined, right: Form | undefined): boolean {
  if (left === undefined || right === undefined || left.bag !== right.bag) return true;
  const [one, other] = [partsOf(left), partsOf(right)];
  const isPaired = ({ role }: Part) =>
    role !== '' && [one, other].every((parts) => parts.filter((part) => part.role === role).length > 1);
  const keys = (parts: readonly Part[]) => parts.map(({ key }) => key);
  const isPlain = (parts: readonly Part[]) =>
    parts.filter(isPaired).length === 2 &&
    parts.filter((part, place) => !isPaired(part) && (place === 0 || isPaired(parts[place - 1] as Part))).length < 2;
  const span = (parts: readonly Part[]) =>
    keys(parts.slice(parts.findIndex(isPaired), parts.findLastIndex(isPaired) + 1)).join(' ');
  // "At 7 I run in the morning", "in the morning I run at 7".
  if (span(one) === span(other) || (isPlain(one) && isPlain(other))) return true;
  const sorted = (parts: readonly Part[]) => keys(parts.toSorted((a, b) => +isPaired(a) - +isPaired(b))).join(' ');
  if (sorted(one) === sorted(other)) return true;
  return one.every(({ role }, place) => role === other[place]?.role) && isRotated(keys(one), keys(other));
}

type Part = Readonly<Record<'key' | 'role', string>>;

/** Units with their preposition or particle. Times that follow each other are one part: "on Monday in the morning". */
function partsOf({ units, order }: Form): readonly Part[] {
  const parts: Part[] = [];
  for (const { key, isTime, isMarked } of units) {
    const words = key.split('_');
    const marker = order === 'particles' && words.length > 1 ? words.at(-1) : isMarked ? words[0] : '';
    // "Always" goes with any time.
    const [last, role] = [parts.at(-1), key === '=always' ? key : isTime ? 'time' : (marker ?? '')];
    if (role === 'time' && last?.role === role) parts.splice(-1, 1, { role, key: [last.key, key].sort().join(' ') });
    else parts.push({ key, role });
  }
  return parts;
}

const freeIn = (form: Form) => partsOf(form).flatMap(({ key, role }) => (role === '' ? [key] : []));

/** Whether one block is moved, or what is before and after a verb is exchanged. */
function isMoved(one: readonly string[], other: readonly string[]): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let end = one.length;
  while (end > start && one[end - 1] === other[end - 1]) end -= 1;
  const [here, there] = [one.slice(start, end), other.slice(start, end)];
  return here.length === 0 || isRotated(here, there) || (here.length === one.length && !one.includes('not'));
}

const withoutTimes = ({ units }: Form) => units.filter(({ isTime }) => !isTime).map(({ key }) => key);

function isFree(left: Form, right: Form): boolean {
  if (left.order === 'cases' || left.order === 'particles') return true;
  const isOfSpeaker = left.isOfSpeaker && right.isOfSpeaker;
  if (left.order === 'second' && isOfSpeaker) return true;
  const persons = new Set([...left.units, ...right.units].flatMap(({ person }) => person ?? []));
  const count = Math.max(
    ...[left, right].map(
      ({ units }) =>
        units.filter(({ key, person, isMarked }) => person !== undefined || (!isMarked && persons.has(key))).length,
    ),
  );
  if (count > 1) return false;
  return ['verb', 'second'].includes(left.order) || isOfSpeaker;
}

/** "Near Leicester my car broke down" begins with the marked end of the other wording. */
function isTurnedAtMark(left: Form, right: Form): boolean {
  const [one, other] = [withoutTimes(left), withoutTimes(right)];
  const begins = [left, right].some(({ units }) => units.find(({ isTime }) => !isTime)?.isMarked === true);
  return begins && isRotated(one, other);
}

function isRotated(one: readonly string[], other: readonly string[]): boolean {
  if (one.length > longestRotated) return false;
  return one.some(
    (_, start) => start > 0 && one.every((value, place) => value === other[(place + start) % one.length]),
  );
}

const longestRotated = 40;
