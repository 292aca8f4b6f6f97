/** Makes variants of writing the same: spellings, scripts, times and marks, and parts of Korean words. */

import { Converter } from 'opencc-js/t2cn';
import type { Token } from './lexicon.ts';

/** Built for the first Chinese text, because its table takes memory. */
let toSimplified: ((text: string) => string) | undefined;

const dateInCharacters = /(\d{4})[年년] ?(\d{1,2})[月월] ?(\d{1,2})[日號号일]/gu;
const kana = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

interface Writing {
  readonly text: string;
  /** Words with a capital within a sentence, in lower case. */
  readonly names: ReadonlySet<string>;
}

export function normaliseWriting(content: string): Writing {
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

const contractions: Readonly<Record<string, string>> = {
  cannot: 'can not',
  im: 'i am',
  ive: 'i have',
  "let's": 'let us',
};
const endings: readonly (readonly [RegExp, string])[] = [
  [/(?<=^(?:it|that|he|she|there|here|what|who|where))'s$/, ' is'],
  [/^won't$/, 'will not'],
  [/^(?:can|shan)'t$/, 'can not'],
  [/n't$/, ' not'],
  [/'m$/, ' am'],
  [/'re$/, ' are'],
  [/'ve$/, ' have'],
  [/'ll$/, ' will'],
  [/'d$/, ' would'],
  // "Sam's" can mean "of Sam" or "Sam is". The order of the words decides.
  [/'s?$/, ''],
];
const present: Readonly<Record<string, string>> = { am: 'be', is: 'be', are: 'be', does: 'do', has: 'have' };
const british =
  /(?<=^(?:water|multi|dis|un|mis)?(?:col|fav|flav|hon|behavi|neighb|hum|lab|harb|rum|od|vap|arm|parl|sav|endeav|glam|tum|vig))our/;
const exceptions =
  /^(?:other|like|clock|length|cross|edge|side)wise$|^(?:advert|adv|compr|desp|dev|exc|exerc|expert|franch|improv|merchand|otherw|prec|prem|prom|rev|superv|surpr|telev|appra|disgu|enterpr|concise|noise|raise|praise|cruise|bruise|poise|arise|demise|paradise)/;
const others: Readonly<Record<string, string>> = {
  grey: 'gray',
  centre: 'center',
  theatre: 'theater',
  metre: 'meter',
  programme: 'program',
  jewellery: 'jewelry',
  cosy: 'cozy',
  tyre: 'tire',
  moustache: 'mustache',
  pyjamas: 'pajamas',
  licence: 'license',
  practise: 'practice',
  defence: 'defense',
  mum: 'mom',
  ok: 'okay',
};

/** Returns the words of a written word: without contractions and elisions, in one spelling. */
export function spellingOf(word: string, code: string): readonly string[] {
  if (code === 'en') return english(word);
  if (code === 'ko') return korean(word);
  // An apostrophe separates the case of a name.
  if (code === 'tr') return [word.replaceAll("'", '')];
  if (code === 'ar') return [word.replace(/ى$/, 'ي')];
  // The language of a short text is uncertain, and "don't" is always English.
  if (word.endsWith("n't")) return english(word);
  return word.split("'").filter((part) => part !== '');
}

function english(word: string): readonly string[] {
  const expanded = Object.hasOwn(contractions, word) ? (contractions[word] ?? '') : withoutEnding(word);
  return expanded.split(' ').map((one) => {
    if (Object.hasOwn(present, one)) return present[one] ?? one;
    if (Object.hasOwn(others, one)) return others[one] ?? one;
    const american = one.replace(british, 'or');
    if (!/.{3}is(?:e|es|ed|ing|ation|er)$/.test(american) || exceptions.test(american)) return american;
    return american.replace(/is(?=(?:e|es|ed|ing|ation|er)$)/, 'iz');
  });
}

function withoutEnding(word: string): string {
  for (const [ending, written] of endings) if (ending.test(word)) return word.replace(ending, written);
  return word;
}

const firstSyllable = 0xac00;
const finalsPerVowel = 28;

/** Whether a syllable of Hangul ends in a consonant. */
function hasFinal(syllable: string): boolean {
  const place = (syllable.codePointAt(0) ?? 0) - firstSyllable;
  return place >= 0 && place % finalsPerVowel !== 0;
}

/** Separates particles, and reduces the polite and plain endings of verbs to one. */
function korean(word: string): readonly string[] {
  const verb = word
    .replace(/(?:합니다|해요|한다|하다|하세요|하십시오|해주세요|해줘|해)$/, '하')
    .replace(/(?:입니다|이에요|예요|이다)$/, '')
    .replace(/(?:습니다|어요|아요|는다)$/, '');
  if (verb !== word && verb !== '') return [verb];
  if (word.length < 2) return [word];
  const [, noun = word, particle] = /^(.+)([을를가은는에와과])$/.exec(word) ?? [];
  // After a final consonant, "이" is the particle "가".
  if (word.length > 2 && word.endsWith('이') && hasFinal(word.at(-2) ?? '')) return [word.slice(0, -1), '가'];
  if (particle === undefined || particle === '은' || particle === '는') return [noun];
  return [noun, particle === '을' ? '를' : particle];
}

/** Words between the parts: "5 de marzo de 2027", "March 5th". */
const joints = new Set(['=from', 'of', 'th', 'st', 'nd', 'rd', 'de', 'den', 'г', 'года', 'roku', 'r']);

/** Joins the parts of a date, so that "5 March 2027", "March 5, 2027" and "2027-03-05" read the same. */
export function joinDates(tokens: readonly Token[]): readonly Token[] {
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
