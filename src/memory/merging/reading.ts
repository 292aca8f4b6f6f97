/** Reads a content as ordered tokens for the comparison with another. */

import { Converter } from 'opencc-js/t2cn';
import { createLru } from '#platform/cache/cache.ts';
import { cutRuns, type Run } from '../text.ts';
import { type Form, formOf, isListed, rewrite, withoutSynonyms } from './canonical.ts';
import data from './languages.json' with { type: 'json' };
import {
  electLexicon,
  findEntry,
  type Lexicon,
  lexiconOf,
  lexicons,
  type Meaning,
  type Token,
  type Votes,
  voteForLanguages,
} from './lexicon.ts';

export type Reading = readonly Token[];

type Read = Omit<Token, 'kind'> & { readonly kind: Meaning['kind'] };

/** A content that is compared with others. */
export interface Draft {
  readonly text: string;
  readonly names: ReadonlySet<string>;
  readonly runs: readonly Run[];
  readonly votes: Votes;
  readonly readings: Map<Lexicon, Reading>;
  readonly forms: Map<Lexicon, Forms>;
}

export interface Forms {
  /** Of the words as they are written. */
  readonly written: Form | undefined;
  /** Of the wordings that the text is rewritten to. */
  readonly canonical: readonly Form[];
  /** The words of the first of them. */
  readonly reading: Reading | undefined;
}

/** An entity's memories are compared with each addition to it. */
const drafts = createLru<string, Draft>(2_000);
const longestCached = 500;

export function draft(content: string): Draft {
  const cached = drafts.get(content);
  if (cached !== undefined) return cached;
  const { text, names } = normaliseWriting(content);
  const runs = cutRuns(text);
  const made = { text, names, runs, votes: voteForLanguages(runs), readings: new Map(), forms: new Map() };
  if (content.length <= longestCached) drafts.set(content, made);
  return made;
}

export function read(content: string): Reading {
  const one = draft(content);
  return readIn(one, electLexicon(one.votes));
}

/** Reads both in one language, because the language of a short text is uncertain. */
export function readTogether(left: Draft, right: Draft): readonly [Reading, Reading] {
  const lexicon = electLexicon(left.votes, right.votes);
  return [readIn(left, lexicon), readIn(right, lexicon)];
}

/** The language in which both are read. */
export function lexiconTogether(left: Draft, right: Draft): Lexicon {
  const voted = electLexicon(left.votes, right.votes);
  const grams = left.runs.find(({ kind }) => kind === 'grams');
  return grams === undefined ? voted : lexiconOf(grams.text, left.text);
}

/** The forms of both, in one language. */
export function formsTogether(left: Draft, right: Draft): readonly [Forms, Forms] {
  const lexicon = electLexicon(left.votes, right.votes);
  return [formsIn(left, lexicon), formsIn(right, lexicon)];
}

function formsIn(content: Draft, voted: Lexicon): Forms {
  const known = content.forms.get(voted);
  if (known !== undefined) return known;
  const forms = makeForms(content, voted);
  content.forms.set(voted, forms);
  return forms;
}

const noForms: Forms = { written: undefined, canonical: [], reading: undefined };

function makeForms(content: Draft, voted: Lexicon): Forms {
  const grams = content.runs.find(({ kind }) => kind === 'grams');
  const lexicon = grams === undefined ? voted : lexiconOf(grams.text, content.text);
  const wordings = rewrite(content.text, lexicon);
  if (wordings.length === 0) return noForms;
  const names = new Set([...content.names, ...withoutSynonyms([...content.names], lexicon.language.code)]);
  const readings = wordings.map((text) => readRuns(cutRuns(text), text, lexicon, names, withoutSynonyms));
  return {
    written: formOf(readIn(content, voted), lexicon),
    canonical: readings.flatMap((reading) => [formOf(reading, lexicon), formOf(reading.map(inSingular), lexicon)]),
    reading: readings[0],
  };
}

/** "Noises" and "noise", but not "the noises". */
const inSingular = (token: Token): Token =>
  token.singular === undefined || token.isName === true
    ? token
    : { ...token, value: `${token.singular}~`, written: token.written ?? token.value };

function readIn(content: Draft, lexicon: Lexicon): Reading {
  const known = content.readings.get(lexicon);
  if (known !== undefined) return known;
  const reading = readRuns(content.runs, content.text, lexicon, content.names);
  content.readings.set(lexicon, reading);
  return reading;
}

function readRuns(
  runs: readonly Run[],
  text: string,
  lexicon: Lexicon,
  names: ReadonlySet<string>,
  replace = (words: readonly string[], _code: string) => words,
): Reading {
  const tokens = segmentsOf(runs).flatMap((segment): readonly Read[] => {
    const [first] = segment;
    if (first?.kind === 'grams') return readUnspaced(first.text, lexiconOf(first.text, text));
    if (first?.kind === 'number') return [{ kind: 'number', value: first.text.replace(/,(?=\d{3}(?:\D|$))/g, '') }];
    if (first?.kind === 'symbol') return [{ kind: 'symbol', value: first.text }];
    const words = segment.flatMap(({ text: word }) => spell(word, lexicon)).filter((word) => !emphasis.has(word));
    return readWords(replace(words, lexicon.language.code), lexicon, names);
  });
  return sortLastTwo(asFirstPerson(joinDates(joinNegation(tokens)), lexicon), lexicon);
}

/** Emphasis may stand within a sequence: "gosto muito de". */
const emphasis = new Set(data.emphasis.split(' '));

function spell(word: string, lexicon: Lexicon): readonly string[] {
  return lexicon.language.code === 'ko' && lexicon.entries.has(word) ? [word] : spellingOf(word, lexicon);
}

const coordinators = new Set('and or und oder y e o et ou ed и или dan atau'.split(' '));
/** Words that mean something else in other languages. */
const otherCoordinators: Readonly<Record<string, string | undefined>> = { nl: 'en', pl: 'i', tr: 've' };

/** "And", "or". */
export const coordinates = (word: string | undefined, code: string) =>
  coordinators.has(word ?? '') || (word !== undefined && word === otherCoordinators[code]);

/**
 * Reads "I like jazz and blues" as "I like blues and jazz". Only at the end, where the words after "and" begin no statement,
 * and not in "I like green tea and coffee", where a word before belongs to the first only.
 */
function sortLastTwo(tokens: Reading, { language }: Lexicon): Reading {
  const [former, before, left, joint, right] = [-5, -4, -3, -2, -1].map((place) => tokens.at(place));
  const isSubject = former?.kind === 'person' && !isListed('possessives', former.written ?? '', language.code);
  const isMine = tokens.length === 6 && isListed('possessives', tokens[0]?.written ?? '', language.code);
  const isVerb = former === undefined || isSubject || isMine || before?.value === '=like';
  const isNamed = left?.isName === true && language.code !== 'de';
  if (before?.kind === 'number' || (before?.kind === 'word' && !isVerb && !isNamed)) return tokens;
  if (left?.kind !== 'word' || right?.kind !== 'word' || !coordinates(joint?.value, language.code)) return tokens;
  return left.value <= right.value ? tokens : [...tokens.slice(0, -3), ...tokens.slice(-3).toReversed()];
}

/** Groups neighboring words, so that sequences are found across them. A hyphen within a word does not separate. */
function segmentsOf(runs: readonly Run[]): readonly (readonly Run[])[] {
  const segments: Run[][] = [];
  for (const [place, run] of runs.entries()) {
    const last = segments.at(-1);
    const isHyphen = run.text === '-' && runs[place - 1]?.kind === 'word' && runs[place + 1]?.kind === 'word';
    if (isHyphen) continue;
    if (run.kind === 'word' && last?.at(-1)?.kind === 'word') last.push(run);
    else segments.push([run]);
  }
  return segments;
}

function readWords(words: readonly string[], lexicon: Lexicon, names: ReadonlySet<string>): readonly Read[] {
  const { negations } = lexicons();
  const tokens: Read[] = [];
  for (let place = 0; place < words.length; ) {
    const word = words[place] ?? '';
    const entry = findEntry(lexicon, words, place);
    place += entry?.words.length ?? 1;
    if (entry !== undefined && entry.meaning.kind !== 'other') {
      const text = entry.words.join(' ');
      const elaborates = lexicon.elaborating.has(text);
      const isAttitude = lexicon.attitudes.has(text);
      tokens.push({
        ...entry.meaning,
        ...writtenOf(entry.meaning, text),
        ...(entry.meaning.kind === 'person' && names.has(text) && { isName: true }),
        ...(elaborates && { elaborates }),
        ...(isAttitude && { isAttitude }),
      });
      continue;
    }
    const isNegated = entry === undefined && (lexicon.negatedForm?.test(word) || negations.has(word));
    if (isNegated) tokens.push({ kind: 'negation', value: 'not' });
    if (isNegated && negations.has(word)) continue;
    const isFixed = [place - 2, place - 3].some((before) => fixesNumber(words[before], lexicon));
    const singular = isFixed ? undefined : singularOf(word, lexicon.language.code);
    const elaborates = lexicon.elaborating.has(word);
    tokens.push({
      kind: 'word',
      value: names.has(word) && !['de', 'vi'].includes(lexicon.language.code) ? withoutAccents(word) : word,
      ...(singular !== undefined && { singular }),
      ...(names.has(word) && { isName: true, written: word }),
      ...(elaborates && { elaborates }),
      ...(lexicon.attitudes.has(word) && { isAttitude: true }),
    });
  }
  return tokens;
}

/** Persons and prepositions are listed under one value for all their forms. */
const writtenOf = ({ kind, value }: Meaning, written: string) =>
  value === written || kind === 'idle' ? {} : { written };

/** Writers often leave the accents of names out. In Vietnamese they make other names, and German capitals are no sign of a name. */
const withoutAccents = (word: string) => word.normalize('NFKD').replace(/\p{M}/gu, '');

function fixesNumber(word: string | undefined, lexicon: Lexicon): boolean {
  if (word === undefined) return false;
  const kind = lexicon.entries.get(word)?.find((entry) => entry.words.length === 1)?.meaning.kind;
  return kind === 'idle' || kind === 'number' || (kind === 'person' && word !== 'i');
}

/** Returns the same form for "background" and "backgrounds". Only in languages that mark it by an s. */
function singularOf(word: string, code: string): string | undefined {
  if (word.length < 4 || !['en', 'es', 'fr', 'pt'].includes(code)) return undefined;
  if (code === 'en' && /[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|us|is)$/.test(word)) return word;
  if (code === 'en') return word.replace(/(?<=ch|sh|x|ss)es$|s$/, '');
  return word.replace(/(?<=[^aeiouáéíóú])es$|s$/, '');
}

function readUnspaced(run: string, lexicon: Lexicon): readonly Read[] {
  const characters = [...run];
  const tokens: Read[] = [];
  for (let place = 0; place < characters.length; ) {
    const entry = findEntry(lexicon, characters, place);
    const text = entry?.words.join('') ?? characters[place] ?? '';
    place += entry?.words.length ?? 1;
    if (entry !== undefined && entry.meaning.kind !== 'other')
      tokens.push({ ...entry.meaning, ...writtenOf(entry.meaning, text) });
    else tokens.push(...[...text].map((value) => ({ kind: 'word', value }) as const));
  }
  if (lexicon.negatedForm?.test(run)) tokens.push({ kind: 'negation', value: 'not' });
  return tokens;
}

/** How many tokens may lie between "ne" and "jamais". */
const concordReach = 6;

/** Leaves out what only strengthens a negation, and idle words. */
function joinNegation(tokens: readonly Read[]): readonly Token[] {
  const joined: Token[] = [];
  let lastNegation = Number.NEGATIVE_INFINITY;
  for (const token of tokens) {
    const { kind } = token;
    if (kind === 'idle' || kind === 'other') continue;
    if (kind === 'negation' || kind === 'concord') {
      const repeats = kind === 'concord' && joined.length - lastNegation <= concordReach;
      lastNegation = joined.length;
      // "Nunca no" is one negation as well as "no … nunca".
      if (!repeats) joined.push({ ...token, kind: 'negation' });
      continue;
    }
    joined.push(kind === 'user' ? { ...token, kind: 'person', isUser: true } : { ...token, kind });
  }
  return joined.filter(
    ({ kind, value }, place) =>
      !(kind === 'word' && value === 'do' && joined[place + 1]?.kind === 'negation') &&
      !(kind === 'word' && value === 'anymore'),
  );
}

/** Reads "The user likes their tea" as "I like my tea". */
function asFirstPerson(tokens: Reading, { language }: Lexicon): Reading {
  const [first, second] = tokens;
  if (language.code !== 'en' || first?.isUser !== true) return tokens;
  const rest = tokens.slice(1).map((token): Token => (token.value === '<they>' ? { ...token, value: '<i>' } : token));
  if (second?.kind !== 'word') return [first, ...rest];
  return [first, { ...second, value: bareVerb(second.value) }, ...rest.slice(1)];
}

function bareVerb(verb: string): string {
  if (/(?:ch|sh|ss|x|o)es$/.test(verb)) return verb.slice(0, -2);
  if (/[^aeiou]ies$/.test(verb)) return `${verb.slice(0, -3)}y`;
  return /[^s]s$/.test(verb) ? verb.slice(0, -1) : verb;
}

// Makes variants of writing the same: spellings, scripts, times and marks, and parts of Korean words.

/** Built for the first Chinese text, because its table takes memory. */
let toSimplified: ((text: string) => string) | undefined;

const dateInCharacters = /(\d{4})[年년] ?(\d{1,2})[月월] ?(\d{1,2})[日號号일]/gu;
const kana = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

interface Writing {
  readonly text: string;
  /** Words with a capital within a sentence, in lower case. */
  readonly names: ReadonlySet<string>;
}

function normaliseWriting(content: string): Writing {
  const plain = content.normalize('NFKC').replace(/’/g, "'");
  const names = [...plain.matchAll(/(?<=[\p{Ll}\p{Nd},;:] )\p{Lu}[\p{L}\p{M}]+/gu)].map(([word]) => word.toLowerCase());
  const text = plain
    .replace(dateInCharacters, ' $1-$2-$3 ')
    // A letter that names something, such as "panel A", is no article.
    .replace(/(?<=[\p{Ll}\p{Nd}] )([AEOY])(?![\p{L}\p{M}'])/gu, '$1$1$1')
    .replace(/(\d) ?[×xX] ?(?=\d)/gu, '$1 x ')
    .replace(/(\d) : (?=\d)/g, '$1:')
    .replace(/\b(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b\.?/gi, asDayTime)
    // Marks of vowels, which writers of Arabic and Hebrew may leave out, and letters that vary.
    .replace(/[\u0640\u064B-\u0652\u0591-\u05C7]/g, '')
    .replace(/[أإآ]/g, 'ا')
    .replace(/ё/g, 'е')
    // Korean writes a negation with or without a space.
    .replace(/지 (?=[마말않못])/g, '지');
  return { text: kana.test(text) ? text : simplify(text), names: new Set(names) };
}

function asDayTime(_: string, hours: string, minutes: string | undefined, half: string): string {
  const hour = (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return `${hour}:${minutes ?? '00'}`;
}

/** Simplified characters for traditional ones. */
function simplify(text: string): string {
  if (!/\p{Script=Han}/u.test(text)) return text;
  toSimplified ??= createConverter();
  return toSimplified(text);
}

function createConverter(): (text: string) => string {
  return Converter({ from: 't', to: 'cn' });
}

/** Words come back in the readings of each wording. */
const spelled = createLru<string, readonly string[]>(5_000);

/** Returns the words of a written word: without contractions, elisions and particles, in one spelling. */
function spellingOf(word: string, { language, spelling }: Lexicon): readonly string[] {
  const key = `${language.code} ${word}`;
  let words = spelled.get(key);
  if (words === undefined) {
    // The language of a short text is uncertain, and "don't" is always English.
    const rules = word.endsWith("n't") && spelling === undefined ? lexicons().byCode.get('en')?.spelling : spelling;
    const one = rules?.reduce((rest, [pattern, written]) => rest.replace(pattern, written), word);
    words = (one ?? word.replaceAll("'", ' ')).split(' ').filter((part) => part !== '');
    spelled.set(key, words);
  }
  return words;
}

/** Words between the parts: "5 de marzo de 2027", "March 5th". */
const joints = new Set(['=from', 'of', 'th', 'st', 'nd', 'rd', 'de', 'den', 'г', 'года', 'roku', 'r']);

/** Joins the parts of a date, so that "5 March 2027", "March 5, 2027" and "2027-03-05" read the same. */
function joinDates(tokens: readonly Token[]): readonly Token[] {
  const joined: Token[] = [];
  for (let place = 0; place < tokens.length; place += 1) {
    const token = tokens[place];
    if (token === undefined) break;
    const whole = wholeDate(token);
    if (whole !== undefined) {
      joined.push(whole);
      continue;
    }
    const found = dateAt(tokens, place);
    if (found === undefined) joined.push(token);
    else {
      joined.push({ kind: 'date', value: found.value });
      place = found.end - 1;
    }
  }
  return joined;
}

function wholeDate({ kind, value }: Token): Token | undefined {
  if (kind !== 'number') return undefined;
  const [, year, month, day] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(value) ?? [];
  if (year !== undefined) return { kind: 'date', value: `${year}-${Number(month)}-${Number(day)}` };
  const [, days, months, years] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(value) ?? [];
  return days === undefined ? undefined : { kind: 'date', value: `${years}-${Number(months)}-${Number(days)}` };
}

/** A date of a day and a month, in either order, with or without a year. */
function dateAt(tokens: readonly Token[], start: number): { readonly value: string; readonly end: number } | undefined {
  const first = part(tokens, start);
  const second = part(tokens, first.end);
  const [day, month] = first.day === undefined ? [second.day, first.month] : [first.day, second.month];
  if (day === undefined || month === undefined) return undefined;
  const third = part(tokens, second.end);
  return { value: `${third.year ?? ''}-${month}-${day}`, end: third.year === undefined ? second.end : third.end };
}

/** Reads one part of a date, and the joints after it. */
function part(tokens: readonly Token[], place: number) {
  const { kind, value = '' } = tokens[place] ?? {};
  const number = kind === 'number' && /^\d+$/.test(value) ? Number(value) : undefined;
  const [, month] = (kind === 'date' && /^month(\d+)$/.exec(value)) || [];
  let end = place + 1;
  while (joints.has(tokens[end]?.value ?? '')) end += 1;
  return {
    day: number !== undefined && number >= 1 && number <= 31 ? number : undefined,
    month: month === undefined ? undefined : Number(month),
    year: number !== undefined && number >= 1900 && number <= 2199 ? number : undefined,
    end,
  };
}
