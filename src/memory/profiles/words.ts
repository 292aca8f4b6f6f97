/** The words of statements, and the languages and time zones that they name. */
import data from './languages.json' with { type: 'json' };

/** The lists of a language, separated by commas (languages.json). */
export interface Row extends Readonly<Partial<Record<List, string>>> {
  readonly code: string;
  /** Written without spaces. */
  readonly unspaced?: boolean;
  /** Endings of the names of languages: one to remove, and those that replace it. */
  readonly endings?: Readonly<Record<string, string>>;
  /** Further names of languages by code. */
  readonly names?: Readonly<Record<string, string>>;
}
type List = RoleList | BorderList | Check | Pattern;
type RoleList =
  | 'idle'
  | 'lasting'
  | 'talk'
  | 'wish'
  | 'speak'
  | 'toMe'
  | 'ask'
  | 'named'
  | 'nameBegin'
  | 'nameEnd'
  | 'am'
  | 'itIs'
  | 'here'
  | 'trail'
  | 'article'
  | 'lead'
  | 'askUs'
  | 'zone'
  | 'clock'
  | 'mine'
  | 'hours';
type BorderList = 'and' | 'but' | 'reason' | 'even';
type Check = 'unless' | 'others' | 'pretend' | 'common' | 'greet';
type Pattern = 'conditionForm' | 'commonForm' | 'noName' | 'nameForm' | 'placeForm';

/** A word, or a character of a script without spaces. `key` has neither capitals nor accents. */
export interface Token {
  readonly key: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly afterBorder: boolean;
}

const tokenPattern =
  /[a-z]+(?:\/[a-z_\-]+)+|(?<![a-z])(?:utc|gmt)(?:\s?[+−–\-]\s?\d{1,2}(?::?\d\d)?)?(?![a-z\d])|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー々]|[[\p{L}\p{M}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー々]]+'?|\p{N}+|:/giv;
const borderGap = /[,;、，；()…～~]|\s[–—-]+\s|[–—]/u;

/** Words of two letters keep their accents, because "è" and "e" differ. */
function fold(word: string): string {
  const lower = word.toLowerCase().replaceAll('i̇', 'i').replaceAll('ı', 'i').replaceAll('ё', 'е').replaceAll('ß', 'ss').replaceAll('ł', 'l');
  return /^[\p{sc=Latin}\p{M}']{3,}$/u.test(lower) ? lower.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC') : lower;
}

export function tokenize(text: string): readonly Token[] {
  let last = 0;
  return [...text.matchAll(tokenPattern)].map((match) => {
    const gap = text.slice(last, match.index);
    const start = match.index;
    last = start + match[0].length;
    return { key: fold(match[0]), text: match[0], start, end: last, afterBorder: borderGap.test(gap) };
  });
}

const lists = new Map<string, readonly string[]>();

/** The phrases of a list, as keys of tokens that are joined by spaces. */
export function listOf(list = ''): readonly string[] {
  const known = lists.get(list);
  if (known) return known;
  const phrases = list.split(/, ?/).map((phrase) => tokenize(phrase).map(({ key }) => key).join(' ')).filter(Boolean);
  lists.set(list, phrases);
  return phrases;
}

/** The languages by their names in a language and by their own names. */
export function languagesIn({ code, endings = {}, names = {} }: Row): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const local = new Intl.DisplayNames(code.replace('_', '-'), { type: 'language' });
  for (const language of data.languageCodes.split(', ')) {
    const value = data.chinese[language as keyof typeof data.chinese] ?? language;
    const own = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
    const name = local.of(language) ?? language;
    const forms = Object.entries(endings).flatMap(([ending, others]) =>
      name.endsWith(ending) ? others.split(', ').map((other) => name.slice(0, name.length - ending.length) + other) : [],
    );
    for (const form of [own, name, ...forms]) for (const key of listOf(form)) found.set(key, value);
  }
  for (const [language, list] of Object.entries(names)) for (const key of listOf(list)) found.set(key, language);
  return found;
}

interface Zone {
  /** In tokens. */
  readonly length: number;
  /** `Z` is only a time zone. `P` is a place, which must be followed by "time". */
  readonly mark: 'Z' | 'P';
  readonly value: string;
}

/** The time zones that tokens name from a position on, the longest first. */
export function zonesAt(tokens: readonly Token[], at: number, row: Row): readonly Zone[] {
  const [token] = tokens.slice(at, at + 1);
  if (!token) return [];
  const exact = knownZone(token.text);
  if (exact) return [{ length: 1, mark: 'Z', value: exact }];
  const places = placesIn(row);
  const keys = tokens.slice(at, at + 9).map((_, index) => tokens.slice(at, at + index + 1).map(({ key }) => key).join(' '));
  const found = keys.flatMap((key, index): Zone[] => {
    const value = places.get(key);
    return value === undefined ? [] : [{ length: index + 1, mark: 'P', value }];
  });
  const stem = row.placeForm && token.key.replace(new RegExp(row.placeForm, 'u'), '');
  if (found.length > 0 || !stem || stem === token.key || stem.length < 4) return found.toReversed();
  const inflected = [...places].find(([key]) => key.startsWith(stem) && key.length - stem.length < 3);
  return inflected ? [{ length: 1, mark: 'P', value: inflected[1] }] : [];
}

function knownZone(text: string): string | undefined {
  const [, sign = '', hours = '', minutes = ''] = /^(?:utc|gmt)\s?(?:([+−–-])\s?(\d{1,2})(?::?(\d\d))?)?$/iu.exec(text) ?? [];
  if (hours) return `UTC${sign === '+' ? '+' : '-'}${Number(hours)}${minutes && `:${minutes}`}`;
  const isShort = text === text.toUpperCase() || !/\p{sc=Latin}/u.test(text);
  const short = isShort ? data.abbreviations[text.toUpperCase() as keyof typeof data.abbreviations] : undefined;
  if (short || !text.includes('/')) return short;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

const placesByRow = new Map<string, ReadonlyMap<string, string>>();

/** Cities and regions of the time zones, countries by `Intl`, and the words of languages.json. */
function placesIn({ code }: Row): ReadonlyMap<string, string> {
  const known = placesByRow.get(code);
  if (known) return known;
  const countries = new Intl.DisplayNames(code.replace('_', '-'), { type: 'region' });
  const named = [
    ...Intl.supportedValuesOf('timeZone').map((zone) => [zone, zone.split('/').at(-1)?.replaceAll('_', ' ') ?? '']),
    ...Object.entries(data.countries).map(([country, zone]) => [zone, countries.of(country) ?? '']),
    ...Object.entries(data.places),
  ];
  const places = new Map(named.flatMap(([zone = '', list]) => listOf(list).map((key) => [key, zone] as const)));
  placesByRow.set(code, places);
  return places;
}
