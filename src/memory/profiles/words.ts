/** The words of statements (languages.json): tokens, listed phrases, and the languages and time zones that they name. */
import cities from './cities.json' with { type: 'json' };
import data from './languages.json' with { type: 'json' };

/** A language: lists of phrases that are separated by commas, and regular expressions. See `roles` and `Grammar`. */
export interface Row {
  readonly code: string;
  /** Written without spaces. */
  readonly unspaced?: boolean;
  /** Endings of the names of languages: one to remove, and those that replace it. */
  readonly endings?: Readonly<Record<string, string | undefined>>;
  /** More names of languages by their code. */
  readonly names?: Readonly<Record<string, string | undefined>>;
  /** An ending to remove from the adjective of a place. */
  readonly placeForm?: string;
  /** The ending of a case to remove from the name of a city. */
  readonly cityForm?: string;
  /** Sounds at the end of a name that change before such an ending. */
  readonly citySounds?: Readonly<Record<string, string | undefined>>;
  /** More names of places by their time zone, in this language. */
  readonly places?: Readonly<Record<string, string | undefined>>;
}

/** A word, or a character of a script without spaces. `key` has no capitals and accents. */
export interface Token {
  readonly key: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** A comma or dash is before it. */
  readonly afterBorder: boolean;
}

const tokenPattern =
  /(?<![a-z])(?:utc|gmt)(?:\s?[+−–\-]\s?\d{1,2}(?::?\d\d)?)?(?![a-z\d\/])|(?<!\p{L})و(?=[أإ]|ا(?:نا|سمي|عيش|سكن)|نعيش|نسكن)|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー々]|[[\p{L}\p{M}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー々]]+(?:\/[a-z_\-]+)*'?|\p{N}+|:/giv;
const borderGap = /[,;、，；()…～~]|\s[–—-]+\s|[–—]/u;
const plainLetters: Readonly<Record<string, string>> = {
  ı: 'i',
  ё: 'е',
  ß: 'ss',
  ł: 'l',
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ى: 'ي',
  ة: 'ه',
};

/** Words of two letters keep their accents, because "è" and "e" differ. */
function fold(word: string): string {
  const lower = word
    .toLowerCase()
    .replaceAll('i̇', 'i')
    .replace(/[\u064b-\u0652\u0670ـ]/g, '')
    .replace(/[ıёßłأإآىة]/g, (letter) => plainLetters[letter] ?? letter);
  if (!/^[\p{sc=Latin}\p{M}']{3,}$/u.test(lower)) return lower;
  return lower.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');
}

export function tokenize(text: string): readonly Token[] {
  let last = 0;
  return [...text.matchAll(tokenPattern)].map((match) => {
    const afterBorder = borderGap.test(text.slice(last, match.index));
    last = match.index + match[0].length;
    return { key: fold(match[0]), text: match[0], start: match.index, end: last, afterBorder };
  });
}

/** Phrases of tokens with values, for looking up which ones begin at a token. */
export class Phrases<Value> {
  readonly #next = new Map<string, Phrases<Value>>();
  readonly #values: Value[] = [];

  add(list: string | undefined, value: Value): this {
    for (const phrase of (list ?? '').split(',')) {
      let node: Phrases<Value> = this;
      for (const { key } of tokenize(phrase)) node = node.#after(key);
      if (node !== this && !node.#values.includes(value)) node.#values.push(value);
    }
    return this;
  }

  #after(key: string): Phrases<Value> {
    const known = this.#next.get(key) ?? new Phrases<Value>();
    this.#next.set(key, known);
    return known;
  }

  /** The phrases at a token, the longest first. */
  at(tokens: readonly Token[], from: number): readonly { readonly length: number; readonly value: Value }[] {
    const found: { length: number; value: Value }[] = [];
    let node: Phrases<Value> | undefined = this;
    for (let at = from; at < tokens.length; at++) {
      node = node.#next.get(tokens[at]?.key ?? '');
      if (node === undefined) break;
      for (const value of node.#values) found.unshift({ length: at + 1 - from, value });
    }
    return found;
  }

  /** The length of the longest phrase at a token, or 0. */
  lengthAt(tokens: readonly Token[], from: number): number {
    return this.at(tokens, from)[0]?.length ?? 0;
  }

  isIn(tokens: readonly Token[]): boolean {
    return tokens.some((_, from) => this.lengthAt(tokens, from) > 0);
  }

  /** Whether all tokens are one phrase. */
  is(tokens: readonly Token[]): boolean {
    return tokens.length > 0 && this.lengthAt(tokens, 0) === tokens.length;
  }
}

/** Whether a phrase of one list is not in a longer one of the other: "days" is, but not in "these days". */
export function hasOutside(tokens: readonly Token[], list: Phrases<true>, except: Phrases<unknown>): boolean {
  for (let at = 0; at < tokens.length; ) {
    const excepted = except.lengthAt(tokens, at);
    const length = list.lengthAt(tokens, at);
    if (length > 0 && length >= excepted) return true;
    at += Math.max(excepted, 1);
  }
  return false;
}

/** The names of languages in a language and in themselves, by their codes. */
export function languagesIn({
  code,
  endings = {},
  names = {},
}: Row): readonly (readonly [code: string, names: string])[] {
  const local = new Intl.DisplayNames(code, { type: 'language' });
  const named = data.languageCodes.split(', ').map((language) => {
    const value = data.chinese[language as keyof typeof data.chinese] ?? language;
    const own = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
    const name = local.of(language) ?? language;
    const forms = Object.entries(endings).flatMap(([ending, others]) =>
      name.endsWith(ending)
        ? (others ?? '').split(', ').map((other) => name.slice(0, name.length - ending.length) + other)
        : [],
    );
    return [value, [own, name, ...forms].join()] as const;
  });
  return [...named, ...Object.entries(names).map(([language, list = '']) => [language, list] as const)];
}

interface Zone {
  /** In tokens. */
  readonly length: number;
  /** `Z` is a time zone. `P` is a place, whose time must be meant. */
  readonly mark: 'Z' | 'P';
  readonly value: string;
}

/** The time zones that the tokens from a position name. */
export function zonesAt(tokens: readonly Token[], at: number, row: Row): readonly Zone[] {
  const token = tokens[at];
  if (!token) return [];
  const exact = knownZone(token.text);
  if (exact) return [{ length: 1, mark: 'Z', value: exact }];
  const { phrases, names } = placesIn(row);
  const found = phrases
    .at(tokens, at)
    .filter(({ length }) => isWhole(tokens, at + length))
    .map(({ length, value }) => ({ length, mark: 'P' as const, value: knownZone(value) ?? value }));
  const stem = token.key.replace(placeForms.get(row.code) ?? '', '');
  if (found.length > 0) return found;
  const isInflected = stem !== token.key && stem.length > 3;
  const inflected = names.find(([name]) => isInflected && name.startsWith(stem) && name.length - stem.length < 3);
  if (inflected) return [{ length: 1, mark: 'P', value: knownZone(inflected[1]) ?? inflected[1] }];
  const home = /^\p{Ll}/u.test(token.text) ? undefined : homeAt(tokens, at, row);
  return home ? [{ length: home.end - at, mark: 'P', value: home.zone }] : [];
}

/** The longest name of a city, island or country at a position. `end` is after it. A name has a capital, or the whole text has none. */
export function homeAt(
  tokens: readonly Token[],
  at: number,
  row: Row,
): { readonly end: number; readonly zone: string } | undefined {
  const first = tokens[at];
  if (!first) return undefined;
  const isSmall = /^\p{Ll}/u.test(first.text);
  if (isSmall && (first.key.length < 4 || tokens.some(({ text }, index) => index > 0 && /^\p{Lu}.*\p{Ll}/u.test(text))))
    return undefined;
  const zoneOf = zoneFinderIn(row);
  for (let end = Math.min(tokens.length, at + longestHome); end > at; end -= 1) {
    const keys = tokens.slice(at, end).map(({ key }) => key);
    const zone = zoneOf(keys);
    if (zone !== undefined && isWhole(tokens, end)) return { end, zone };
  }
  return undefined;
}

/** Whether no word in katakana continues: "リマ" is a city, but not in "リマインダー". */
const isWhole = (tokens: readonly Token[], end: number) =>
  !(isKatakana(tokens[end - 1]) && isKatakana(tokens[end]) && tokens[end]?.start === tokens[end - 1]?.end);
const isKatakana = (token: Token | undefined) => /^[\p{sc=Katakana}ー]/u.test(token?.text ?? '');

const longestHome = 12;
let citiesByName: ReadonlyMap<string, string> | undefined;

/** Prepares what is read of a language on first use. */
function onceForEachRow<Made>(make: (row: Row) => Made): (row: Row) => Made {
  const made = new Map<string, Made>();
  return (row) => {
    const known = made.get(row.code) ?? make(row);
    made.set(row.code, known);
    return known;
  };
}

/** An earlier list goes before a later one. */
function mapNames(lists: readonly (readonly string[])[], stemOf = (key: string) => key): ReadonlyMap<string, string> {
  const zones = new Map<string, string>();
  for (const [zone = '', list = ''] of lists) {
    const value = knownZone(zone) ?? zone;
    for (const name of list.split(', ')) {
      const key = tokenize(name)
        .map((token) => stemOf(token.key))
        .join(' ');
      if (key !== '' && !zones.has(key)) zones.set(key, value);
    }
  }
  return zones;
}

/** Cities, and countries in the language. A name goes before the stem of another one. */
const zoneFinderIn = onceForEachRow(({ cityForm, citySounds = {}, code, places = {} }) => {
  const lists = [
    ...Object.entries(data.places),
    ...Object.entries(data.homes),
    ...Object.entries(cities.cities),
  ] as const;
  const countries = new Intl.DisplayNames(code, { type: 'region' });
  const own = [
    ...Object.entries(places).map(([zone, list]) => [zone, list ?? '']),
    ...Object.entries(cities.countries).map(([country, zone]) => [zone, countries.of(country) ?? '']),
  ];
  citiesByName ??= mapNames(lists);
  const shared = citiesByName;
  const named = mapNames(own);
  const ending = new RegExp(cityForm ?? '^$', 'u');
  const sounds = Object.entries(citySounds);
  const stemOf = (key: string) => {
    const stem = key.replace(ending, '');
    const [from = '', to = ''] = sounds.find(([sound]) => stem.endsWith(sound)) ?? [];
    return stem.length < 3 ? key : stem.slice(0, stem.length - from.length) + to;
  };
  const stems = cityForm ? mapNames([...lists, ...own], stemOf) : undefined;
  return (keys: readonly string[]) => {
    const [name, stem] = [keys.join(' '), keys.map(stemOf).join(' ')];
    return shared.get(name) ?? named.get(name) ?? stems?.get(stem) ?? shared.get(stem) ?? named.get(stem);
  };
});

/** Returns a zone of IANA, also for a common abbreviation, or an offset such as UTC+5:30. */
export function knownZone(text: string): string | undefined {
  const offset = /^(?:utc|gmt)\s?([+−–-])\s?(\d{1,2})(?::?(\d\d))?$/iu.exec(text);
  if (offset) return `UTC${offset[1] === '+' ? '+' : '-'}${Number(offset[2])}${offset[3] ? `:${offset[3]}` : ''}`;
  const isShort = text === text.toUpperCase() || /^utc|gmt$/i.test(text) || !/\p{sc=Latin}/u.test(text);
  const short = isShort ? data.abbreviations[text.toUpperCase() as keyof typeof data.abbreviations] : undefined;
  if (short || !text.includes('/')) return short;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions();
    return data.renamedZones[timeZone as keyof typeof data.renamedZones] ?? timeZone;
  } catch {
    return undefined;
  }
}

const placeForms = new Map(
  (data.languages as readonly Row[]).map((row) => [row.code, new RegExp(row.placeForm ?? '^$', 'u')]),
);

/** The cities of IANA, countries in the language, and the names of languages.json. */
const placesIn = onceForEachRow(({ code, places: own = {} }) => {
  const countries = new Intl.DisplayNames(code, { type: 'region' });
  const lists = [
    ...Intl.supportedValuesOf('timeZone').map((zone) => [zone, zone.split('/').at(-1)?.replaceAll('_', ' ') ?? '']),
    ...Object.entries(data.countries).map(([country, zone]) => [zone, countries.of(country) ?? '']),
    ...Object.entries(data.places),
    ...Object.entries(own),
  ];
  const phrases = new Phrases<string>();
  for (const [zone = '', list] of lists) phrases.add(list, zone);
  const names = lists.flatMap(([zone = '', list = '']) =>
    list.split(', ').map((name) => [tokenize(name)[0]?.key ?? '', zone] as const),
  );
  return { phrases, names };
});
