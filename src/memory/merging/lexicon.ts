/** The lists of the languages, arranged for looking up the words of a text. */
import { languages } from './languages/all.ts';
import { type Language, opposites } from './languages/language.ts';

export type TokenKind = 'word' | 'person' | 'negation' | 'number' | 'date' | 'symbol' | 'turning' | 'time';

export interface Token {
  readonly kind: TokenKind;
  readonly value: string;
  /** The singular, if an article or a number does not fix how many there are. */
  readonly singular?: string;
  /** A word with a capital within a sentence. */
  readonly isName?: boolean;
  /** Can begin an addition to a statement. */
  readonly elaborates?: boolean;
  /** A verb whose statement an addition narrows. */
  readonly isAttitude?: boolean;
}

/** What a sequence of words is. `idle` words are left out, and `concord` counts only where there is no other negation. */
export interface Meaning {
  readonly kind: TokenKind | 'idle' | 'concord' | 'other' | 'user';
  readonly value: string;
  /** The sequence can begin an addition to a statement. */
  readonly elaborates?: boolean;
}

export interface Entry {
  readonly words: readonly string[];
  readonly meaning: Meaning;
}

export interface Lexicon {
  readonly language: Language;
  /** By their first word (or character, where a language has no spaces), the longest first. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  /** The words that show the language. */
  readonly vocabulary: ReadonlySet<string>;
  readonly elaborating: ReadonlySet<string>;
  readonly attitudes: ReadonlySet<string>;
}

const split = (list: string | undefined): readonly string[] =>
  (list ?? '')
    .split(',')
    .map((entry) => entry.trim().replace(/\s+/g, ' '))
    .filter((entry) => entry !== '');

/** The place in a list is the value, so that empty places count. Slashes separate alternatives. */
function numbered(list: string | undefined, value: (place: number) => string): readonly (readonly [string, string])[] {
  return (list ?? '')
    .split(',')
    .flatMap((entry, place) =>
      entry.split('/').map((word) => [word.trim().replace(/\s+/g, ' '), value(place)] as const),
    )
    .filter(([word]) => word !== '');
}

/** In the order of precedence. */
function meaningsOf(language: Language): readonly (readonly [string, Meaning])[] {
  const all = (list: string | undefined, kind: Meaning['kind'], value?: string) =>
    split(list).map((entry) => [entry, { kind, value: value ?? entry }] as const);
  const valued = (list: readonly (readonly [string, string])[], kind: Meaning['kind']) =>
    list.map(([entry, value]) => [entry, { kind, value }] as const);
  const concepts = Object.entries(language.concepts).flatMap(([concept, list]) => all(list, 'word', `=${concept}`));
  return [
    ...all(language.exceptions, 'other'),
    ...all(language.concord, 'concord', 'not'),
    ...all(language.negations, 'negation', 'not'),
    ...valued(
      numbered(language.weekdays, (place) => `weekday${place + 1}`),
      'date',
    ),
    ...valued(
      numbered(language.months, (place) => `month${place + 1}`),
      'date',
    ),
    ...valued(
      numbered(language.days, (place) => `day${place + 1}`),
      'date',
    ),
    ...valued(numbered(language.numbers, String), 'number'),
    ...valued(
      numbered(language.tens, (place) => String((place + 2) * 10)),
      'number',
    ),
    ...all(language.hundred, 'number', '100'),
    ...all(language.thousand, 'number', '1000'),
    ...all(language.half, 'number', '1/2'),
    ...all(language.firstPerson, 'person', '<i>'),
    ...all(language.users, 'user', '<i>'),
    ...Object.entries(language.persons ?? {}).flatMap(([person, list]) => all(list, 'person', `<${person}>`)),
    ...concepts,
    ...all(language.floating, 'time'),
    ...all(language.turning, 'turning'),
    ...all(language.idle, 'idle'),
  ];
}

function build(language: Language): Lexicon {
  const entries = new Map<string, Entry[]>();
  const known = new Set<string>();
  for (const [text, meaning] of meaningsOf(language)) {
    if (known.has(text)) continue;
    known.add(text);
    const words = language.unspaced === true ? [...text] : text.replaceAll('-', ' ').split(' ');
    const [first = ''] = words;
    const others = entries.get(first);
    if (others === undefined) entries.set(first, [{ words, meaning }]);
    else others.push({ words, meaning });
  }
  for (const list of entries.values()) list.sort((left, right) => right.words.length - left.words.length);
  const vocabulary = new Set([...entries.keys(), ...split(language.frequent)]);
  return {
    language,
    entries,
    vocabulary,
    elaborating: new Set(split(language.elaborating)),
    attitudes: new Set(split(language.attitudes)),
  };
}

export interface Lexicons {
  readonly all: readonly Lexicon[];
  readonly byCode: ReadonlyMap<string, Lexicon>;
  /** One-word negations. They count in all texts with spaces, because the language of a short text is uncertain. */
  readonly negations: ReadonlySet<string>;
  /** The codes of the languages that list a word. */
  readonly listedBy: ReadonlyMap<string, readonly string[]>;
}

let built: Lexicons | undefined;

/** Returns the lexicons of all languages. Built on the first call, because most processes merge no memories soon after their start. */
export function lexicons(): Lexicons {
  built ??= buildAll();
  return built;
}

function buildAll(): Lexicons {
  const all = languages.map(build);
  const byCode = new Map(all.map((lexicon) => [lexicon.language.code, lexicon]));
  return { all, byCode, negations: findNegations(all), listedBy: findLanguages(all) };
}

function findNegations(all: readonly Lexicon[]): ReadonlySet<string> {
  return new Set(
    all
      .filter(({ language }) => language.unspaced !== true)
      .flatMap(({ entries }) => [...entries.values()].flat())
      .filter(({ words, meaning }) => meaning.kind === 'negation' && words.length === 1)
      .map(({ words }) => words[0] ?? ''),
  );
}

function findLanguages(all: readonly Lexicon[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { language, vocabulary } of all)
    for (const word of vocabulary) found.set(word, [...(found.get(word) ?? []), language.code]);
  return found;
}

const opposed = new Set(opposites.flatMap(([left, right]) => [`=${left} =${right}`, `=${right} =${left}`]));

/** Whether two values are opposites, such as `=left` and `=right`. */
export function areOpposites(left: string, right: string): boolean {
  return opposed.has(`${left} ${right}`);
}

/** Returns the longest entry that the words from `place` match. */
export function findEntry({ entries }: Lexicon, words: readonly string[], place: number): Entry | undefined {
  return entries
    .get(words[place] ?? '')
    ?.find((entry) => entry.words.every((word, offset) => words[place + offset] === word));
}
