/** Reads a content as ordered tokens for the comparison with another. Marks negations, numbers, dates and persons. */
import { detectLanguage, type WordLanguage } from '../text/languages.ts';
import { cutRuns } from '../text/words.ts';
import {
  dateWords,
  firstPerson,
  hangulNegation,
  negations,
  noNegation,
  noNumber,
  numberWords,
  persons,
  unspacedDate,
  unspacedNegation,
  unspacedNumber,
  users,
} from './wordlists.ts';

export type TokenKind = 'word' | 'person' | 'negation' | 'number' | 'date' | 'symbol';

export interface Token {
  readonly kind: TokenKind;
  readonly value: string;
}

export type Reading = readonly Token[];

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

/** Articles, politeness and emphasis, which do not change a fact. Contains no word that changes the meaning. */
const idle: Readonly<Record<WordLanguage, ReadonlySet<string>>> = {
  en: words(
    'a an the please really very just also quite truly definitely totally hi hello hey that so well actually thanks',
  ),
  de: words('der die das den dem des ein eine einen einem einer eines bitte sehr wirklich auch ganz hallo dass ja'),
  es: words('el la los las un una unos unas por-favor muy realmente también hola que'),
  fr: words('le la les l un une des du ne n très vraiment aussi bonjour que qu'),
  it: words('il lo la i gli le un uno una l molto davvero anche ciao che'),
  pt: words('o a os as um uma uns umas muito realmente também olá que'),
  ms: words('yang itu ini sangat sekali juga adalah ialah tolong sila hai'),
  ru: words('это очень тоже также пожалуйста привет что'),
};

/** Emphasis in any language, because the language of a short text is uncertain. */
const emphasis = words('really very sehr très muy molto muito sangat очень');

const contractions: Readonly<Record<string, string>> = {
  "won't": 'will not',
  "can't": 'can not',
  cannot: 'can not',
  "shan't": 'shall not',
  dont: 'do not',
  doesnt: 'does not',
  didnt: 'did not',
  isnt: 'is not',
  cant: 'can not',
  im: 'i am',
  ive: 'i have',
};
const endings: readonly (readonly [RegExp, string])[] = [
  [/n't$/, ' not'],
  [/'m$/, ' am'],
  [/'re$/, ' are'],
  [/'ve$/, ' have'],
  [/'ll$/, ' will'],
  [/'d$/, ' would'],
];
const present: Readonly<Record<string, string>> = { am: 'be', is: 'be', are: 'be', does: 'do', has: 'have' };

export function read(content: string): Reading {
  const runs = cutRuns(content);
  const language = detectLanguage(runs.flatMap(({ kind, text }) => (kind === 'word' ? [text] : [])));
  const tokens: Token[] = [];
  for (const { kind, text } of runs) {
    if (kind === 'grams') tokens.push(...readUnspaced(text));
    else if (kind === 'number') tokens.push(...readNumber(text));
    else if (kind === 'symbol') tokens.push({ kind: 'symbol', value: text });
    else
      for (const word of expand(text, language))
        if (!idle[language].has(word) && !emphasis.has(word)) tokens.push(readWord(word));
  }
  return asFirstPerson(joinNegation(tokens), language);
}

/** Writes out English contractions, and separates elided words in other languages. */
function expand(text: string, language: WordLanguage): readonly string[] {
  if (language !== 'en') return text.split("'").filter((part) => part !== '');
  if (Object.hasOwn(contractions, text)) return (contractions[text] ?? '').split(' ');
  for (const [ending, written] of endings) if (ending.test(text)) return text.replace(ending, written).split(' ');
  // "Sam's" can mean "of Sam" or "Sam is". The order of the words decides.
  return [text.replace(/'s?$/, '')];
}

function readWord(word: string): Token {
  const negation =
    negations.get(word) ?? (/\p{Script=Hangul}/u.test(word) && hangulNegation.test(word) ? 'not' : undefined);
  if (negation !== undefined) return { kind: 'negation', value: negation };
  const number = numberWords.get(word);
  if (number !== undefined) return { kind: 'number', value: number };
  const date = dateWords.get(word) ?? dateWords.get(word.replace(/s$/, '')) ?? hangulDate(word);
  if (date !== undefined) return { kind: 'date', value: date };
  if (firstPerson.has(word)) return { kind: 'person', value: '<i>' };
  const person = persons.get(word);
  if (person !== undefined) return { kind: 'person', value: person };
  return { kind: 'word', value: present[word] ?? word };
}

/** Korean appends particles to a word. */
function hangulDate(word: string): string | undefined {
  return /^[월화수목금토일]요일/u.test(word) ? dateWords.get(word.slice(0, 3)) : undefined;
}

/**
 * Reads 1,000 as 1000. Leaves dates and times such as 2026-05-01 and 10:30 unchanged. A number before a unit is a
 * token: 5kg is read as 5 kg.
 */
function readNumber(text: string): readonly Token[] {
  return [{ kind: 'number', value: text.replace(/,(?=\d{3}(?:\D|$))/g, '') }];
}

const unspacedParts = new RegExp(
  [
    `(?<other>${noNegation.source}|${noNumber.source})`,
    '(?<self>用户|用戶|ユーザー?|私|僕|俺|我)',
    `(?<date>${unspacedDate.source})`,
    `(?<negation>${unspacedNegation.source})`,
    `(?<number>${unspacedNumber.source})`,
    '(?<idle>です|ます|的|は|よ|ね|很|了)',
    '(?<one>.)',
  ].join('|'),
  'gu',
);
const digits: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'〇一二三四五六七八九十'].map((digit, value) => [digit, String(value)])),
  零: '0',
  两: '2',
  兩: '2',
};

function readUnspaced(run: string): readonly Token[] {
  return [...run.matchAll(unspacedParts)].flatMap(({ groups = {} }): readonly Token[] => {
    const { self, date, negation, number, idle: omitted, other, one } = groups;
    if (omitted !== undefined) return [];
    if (self !== undefined) return [{ kind: 'person', value: '<i>' }];
    if (date !== undefined) return [{ kind: 'date', value: date.replace(/^(?:礼拜|禮拜|週|周)/u, '星期') }];
    if (negation !== undefined) return [{ kind: 'negation', value: 'not' }];
    if (number !== undefined) return [{ kind: 'number', value: digits[number] ?? number }];
    return [...(other ?? one ?? '')].map((value) => ({ kind: 'word', value }));
  });
}

/** Reads "no longer", "not … anymore" and "do not" as one negation. */
function joinNegation(tokens: readonly Token[]): readonly Token[] {
  return tokens.filter(({ kind, value }, index) => {
    if (kind !== 'word') return true;
    if (value === 'anymore') return false;
    if (value === 'do' && tokens[index + 1]?.kind === 'negation') return false;
    return !(value === 'longer' && tokens[index - 1]?.kind === 'negation');
  });
}

/** Reads "The user likes their tea" as "I like my tea". */
function asFirstPerson(tokens: readonly Token[], language: WordLanguage): Reading {
  const [first, second] = tokens;
  if (first?.kind !== 'word' || !users.has(first.value)) return tokens;
  const self: Token = { kind: 'person', value: '<i>' };
  if (language !== 'en') return [self, ...tokens.slice(1)];
  const rest = tokens.slice(1).map((token) => (token.value === '<they>' ? self : token));
  if (second?.kind !== 'word') return [self, ...rest];
  return [self, { kind: 'word', value: bareVerb(second.value) }, ...rest.slice(1)];
}

function bareVerb(verb: string): string {
  if (/(?:ch|sh|ss|x|o)es$/.test(verb)) return verb.slice(0, -2);
  if (/[^aeiou]ies$/.test(verb)) return `${verb.slice(0, -3)}y`;
  return /[^s]s$/.test(verb) ? verb.slice(0, -1) : verb;
}
