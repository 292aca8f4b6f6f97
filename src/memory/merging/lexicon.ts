/**
 * What the comparison of two contents knows of each language (docs/specification/memory.md#adding): the lists of
 * `languages.json`, arranged for looking up the words of a text. Lists are separated by commas; an entry may have several
 * words in lower case, and hyphens count as spaces.
 */
import { detectLanguage, type Run, stopWords } from '../text.ts';
import data from './languages.json' with { type: 'json' };

type Person = 'he' | 'she' | 'we' | 'they' | 'you';

interface Words {
  /** Negations, and words of quitting and forbidding. */
  readonly negations: string;
  /** Negations that only strengthen another one of the same sentence: "ne … jamais", "no … nada". */
  readonly concord?: string;
  /** Words that change the sense of a sentence: but, only, almost, former. */
  readonly turning: string;
  /** Articles, politeness and emphasis, which change no fact. */
  readonly idle: string;
  /** Words that begin an addition to a complete statement: "I live in Oslo" and "… with my wife". */
  readonly elaborating?: string;
  /** Verbs whose statement an addition narrows: "I eat fish", "I eat fish in Japan". */
  readonly attitudes?: string;
  /** All forms of "I". */
  readonly firstPerson: string;
  /** "The user". */
  readonly users: string;
  readonly persons?: Readonly<Partial<Record<Person, string>>>;
  /** From zero. Slashes separate alternatives. Words that are also articles are left out. */
  readonly numbers: string;
  /** Twenty, thirty, up to ninety. */
  readonly tens?: string;
  readonly hundred?: string;
  readonly thousand?: string;
  readonly half?: string;
  /** From Monday. */
  readonly weekdays: string;
  /** From January. */
  readonly months: string;
  /** Today, tomorrow, yesterday, weekend. */
  readonly days: string;
  /** Times that may stand anywhere in a sentence. */
  readonly floating?: string;
  /** Words of one meaning, and words that have an opposite. */
  readonly concepts: Readonly<Record<string, string | undefined>>;
}

interface Language extends Words {
  readonly code: string;
  /** Written without spaces, or with endings: the lists are looked up within words. */
  readonly unspaced?: boolean;
  /** Words that contain a listed one and mean something else. */
  readonly exceptions?: string;
  /** A regular expression that finds negation in the forms of a word. */
  readonly negatedForm?: string;
  /** `expression => replacement`, applied in order to each word. */
  readonly spelling?: readonly string[];
  /** More words that show the language. */
  readonly frequent?: string;
  /** A regular expression for letters that show the language. */
  readonly letters?: string;
}

export type TokenKind = 'word' | 'person' | 'negation' | 'number' | 'date' | 'symbol' | 'turning' | 'time';

export interface Token {
  readonly kind: TokenKind;
  readonly value: string;
  /** The singular, if an article or a number does not fix how many there are. */
  readonly singular?: string;
  /** As it is written, if the value is that of several forms. */
  readonly written?: string;
  /** "The user". */
  readonly isUser?: boolean;
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
  readonly letters: RegExp | undefined;
  readonly negatedForm: RegExp | undefined;
  /** By their first word (or character, where a language has no spaces), the longest first. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  /** The words that show the language. */
  readonly vocabulary: ReadonlySet<string>;
  readonly elaborating: ReadonlySet<string>;
  readonly attitudes: ReadonlySet<string>;
  readonly spelling: readonly (readonly [RegExp, string])[] | undefined;
}

export const split = (list: string | undefined): readonly string[] =>
  (list ?? '')
    .split(',')
    .map((entry) => entry.trim().replace(/\s+/g, ' '))
    .filter((entry) => entry !== '');

/** The place in a list is the value, so that empty places count. Slashes separate alternatives. */
function numbered(
  list: string | undefined,
  kind: Meaning['kind'],
  value: (place: number) => string,
): readonly (readonly [string, Meaning])[] {
  return (list ?? '')
    .split(',')
    .flatMap((entry, place) =>
      entry.split('/').map((word) => [word.trim().replace(/\s+/g, ' '), { kind, value: value(place) }] as const),
    )
    .filter(([word]) => word !== '');
}

/** In the order of precedence. */
function meaningsOf(language: Language): readonly (readonly [string, Meaning])[] {
  const all = (list: string | undefined, kind: Meaning['kind'], value?: string) =>
    split(list).map((entry) => [entry, { kind, value: value ?? entry }] as const);
  const concepts = Object.entries(language.concepts).flatMap(([concept, list]) => all(list, 'word', `=${concept}`));
  return [
    ...all(language.exceptions, 'other'),
    ...all(language.concord, 'concord', 'not'),
    ...all(language.negations, 'negation', 'not'),
    ...numbered(language.weekdays, 'date', (place) => `weekday${place + 1}`),
    ...numbered(language.months, 'date', (place) => `month${place + 1}`),
    ...numbered(language.days, 'date', (place) => `day${place + 1}`),
    ...numbered(language.numbers, 'number', String),
    ...numbered(language.tens, 'number', (place) => String((place + 2) * 10)),
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

const languages = data.languages as readonly Language[];
const expressions: ReadonlyMap<string, RegExp> = new Map(
  languages
    .flatMap(({ letters, negatedForm }) => [letters, negatedForm])
    .flatMap((source) => (source === undefined ? [] : [[source, new RegExp(source, 'u')]])),
);

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
    letters: expressions.get(language.letters ?? ''),
    negatedForm: expressions.get(language.negatedForm ?? ''),
    entries,
    vocabulary,
    elaborating: new Set(split(language.elaborating)),
    attitudes: new Set(split(language.attitudes)),
    spelling: language.spelling?.map((line) => {
      const [pattern = '', written = ''] = line.split(' => ');
      return [new RegExp(pattern, 'u'), written] as const;
    }),
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

const opposed = new Set(data.opposites.flatMap(([left, right]) => [`=${left} =${right}`, `=${right} =${left}`]));

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

const letterWeight = 1.5;
const stopWordWeight = 0.5;
const defaultWeight = 0.3;

const scriptsOfOne = /[\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}]/u;

/** How much speaks for each language. */
export type Votes = ReadonlyMap<string, number>;

export function voteForLanguages(runs: readonly Run[]): Votes {
  const { all, listedBy } = lexicons();
  const words = runs.flatMap(({ kind, text }) => (kind === 'word' ? text.split("'") : []));
  const votes = new Map<string, number>();
  const vote = (code: string, weight: number) => votes.set(code, (votes.get(code) ?? 0) + weight);
  for (const word of words) {
    const codes = listedBy.get(word) ?? [];
    for (const code of codes) vote(code, 1 / codes.length);
  }
  const joined = words.join(' ');
  const weight = scriptsOfOne.test(joined) ? 2 * letterWeight : letterWeight;
  for (const { language, letters } of all) if (letters?.test(joined) === true) vote(language.code, weight);
  const guess = detectLanguage(words);
  const isKnown = words.some((word) => stopWords[guess].has(word));
  if (words.length > 0) vote(guess, isKnown ? stopWordWeight : defaultWeight);
  return votes;
}

/** Returns the language that most speaks for, and English if nothing does. */
export function electLexicon(...ballots: readonly Votes[]): Lexicon {
  const sums = new Map<string, number>();
  for (const votes of ballots) for (const [code, weight] of votes) sums.set(code, (sums.get(code) ?? 0) + weight);
  let best = 'en';
  for (const [code, weight] of sums) if (weight > (sums.get(best) ?? 0)) best = code;
  return lexiconFor(lexicons().byCode.has(best) ? best : 'en');
}

/** The language of a run without spaces. Japanese has kana somewhere in the text. */
export function lexiconOf(run: string, text: string): Lexicon {
  if (/\p{Script=Thai}/u.test(run)) return lexiconFor('th');
  return lexiconFor(/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? 'ja' : 'zh');
}

function lexiconFor(code: string): Lexicon {
  const lexicon = lexicons().byCode.get(code);
  if (lexicon === undefined) throw new Error(`The word lists of the language ${code} are missing`);
  return lexicon;
}
