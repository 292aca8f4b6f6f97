/**
 * Reads a name, a language or a time zone from a statement of the user about themselves. A statement is a clause in which
 * each word has a listed role (languages.json), so that a negation, another subject or any unknown word states nothing.
 * In doubt, nothing is read.
 */
import data from './languages.json' with { type: 'json' };
import { languagesIn, listOf, type Row, type Token, tokenize, zonesAt } from './words.ts';

export interface Statement {
  readonly fact: 'display_name' | 'language' | 'timezone';
  readonly value: string;
}

/** A letter for each role of words, with which `forms` describe their order. Words without a letter may be anywhere. */
const roles = {
  idle: '',
  lasting: 'p',
  talk: '',
  wish: 'w',
  speak: 's',
  toMe: 'm',
  ask: 'q',
  askUs: 'qw',
  named: 'N',
  nameBegin: 'B',
  nameEnd: 'E',
  am: 'A',
  itIs: 'I',
  here: 'H',
  trail: 'r',
  article: '',
  lead: '',
  zone: 'z',
  clock: 'c',
  mine: 'i',
  hours: 'h',
} as const;
type Role = keyof typeof roles;

/** `said` is the order of a statement, `asked` the one of a question that requests it. L, P, Z and n are values. */
interface Form {
  readonly fact: Statement['fact'];
  readonly roles: readonly Role[];
  readonly said: RegExp;
  readonly asked?: RegExp;
}
const forms: readonly Form[] = [
  {
    fact: 'language',
    roles: ['idle', 'lasting', 'talk', 'wish', 'speak', 'toMe', 'ask', 'askUs'],
    said: /^(?=.*w|.*p|.*s.*m|.*m.*s)[^L]*L[^L]*$/,
    asked: /^(?=.*q)(?=.*w|.*p|.*s.*m|.*m.*s)[^L]*L[^L]*$/,
  },
  {
    fact: 'timezone',
    roles: ['idle', 'lasting', 'zone', 'clock', 'mine', 'hours', 'article'],
    said: /^(?=.*i|p*z[hp]*[PZ][hcp]*$)(?=.*Z|.*[cz].*P|.*P(?:[hp]*i)?[cz])[^PZ]*[PZ][^PZ]*$/,
  },
  {
    fact: 'display_name',
    roles: ['idle', 'lasting', 'named', 'nameBegin', 'nameEnd', 'am', 'itIs', 'here', 'trail', 'article', 'lead', 'ask'],
    said: /^[pq]*(?:Np*np*E?|Bp*np*E|np*E|[AI]p*n|nH)p*r?$/,
    asked: /^p*q[pq]*(?:Np*n|Bp*np*E|np*E)p*r?$/,
  },
];

type Lexicon = ReadonlyMap<string, readonly Part[]>;
/** What tokens are: the letter of a role and, if they state one, the value. */
interface Part {
  readonly mark: string;
  readonly value?: string;
}
type Border = 'comma' | 'and' | 'but' | 'reason' | 'even';

interface Grammar {
  readonly row: Row;
  readonly lexicons: readonly Lexicon[];
  readonly borders: ReadonlyMap<string, Border>;
  readonly sets: Readonly<Record<'unless' | 'others' | 'pretend' | 'common' | 'greet' | 'idle' | 'named', ReadonlySet<string>>>;
}

function grammarOf(row: Row): Grammar {
  const languages = languagesIn(row);
  const borders = (['and', 'but', 'reason', 'even'] as const).flatMap((kind) =>
    listOf(row[kind]).map((key) => [key, kind] as const),
  );
  const setOf = (list: string | undefined) => new Set(listOf(list));
  return {
    row,
    lexicons: forms.map(({ fact, roles: listed }) => {
      const lexicon = new Map<string, Part[]>();
      const add = (key: string, part: Part) => lexicon.set(key, [...(lexicon.get(key) ?? []), part]);
      add(':', { mark: '' });
      for (const role of listed) for (const key of listOf(row[role])) add(key, { mark: roles[role] });
      if (fact === 'language') for (const [key, value] of languages) add(key, { mark: 'L', value });
      return lexicon;
    }),
    borders: new Map(borders),
    sets: {
      unless: setOf(row.unless),
      others: setOf(row.others),
      pretend: setOf(row.pretend),
      greet: setOf(row.greet),
      idle: setOf(row.idle),
      named: setOf(row.named),
      common: new Set([...listOf(row.common), ...listOf(row.idle), ...languages.keys()]),
    },
  };
}

/** Prepared on first use, because a start does not need it. */
let grammars: readonly Grammar[] | undefined;
let words: Readonly<Record<'firstNames' | 'wordNames' | 'neverNames' | 'beforeNames' | 'titles', ReadonlySet<string>>>;

const longestPhrase = 9;
const keyOf = (tokens: readonly Token[], from: number, length: number) =>
  tokens
    .slice(from, from + length)
    .map(({ key }) => key)
    .join(' ');

/** The length of the longest listed phrase at a token, or 0. */
function phraseAt(tokens: readonly Token[], from: number, list: { has(key: string): boolean }): number {
  for (let length = Math.min(longestPhrase, tokens.length - from); length > 0; length--)
    if (list.has(keyOf(tokens, from, length))) return length;
  return 0;
}

const contains = (tokens: readonly Token[], list: ReadonlySet<string>) =>
  tokens.some((_, from) => phraseAt(tokens, from, list) > 0);

/** Returns at most one statement of each fact: the last one. */
export function readStatements(content: string): readonly Statement[] {
  grammars ??= data.languages.map(grammarOf);
  words ??= {
    firstNames: new Set(listOf(data.firstNames)),
    wordNames: new Set(listOf(data.wordNames)),
    neverNames: new Set(listOf(data.neverNames)),
    titles: new Set(listOf(data.titles)),
    beforeNames: new Set([...listOf(data.titles), ...listOf(data.beforeNames)]),
  };
  const found = new Map<Statement['fact'], Statement>();
  const ignored = new Set<Grammar>();
  const sentences = splitSentences(content);
  const greeting = tokenize(content.slice(0, 500));
  let ownQuestion = '';
  for (const sentence of sentences) {
    const untagged = (ownQuestion + sentence).replace(questionTag, '');
    const tokens = tokenize(untagged);
    const isQuestion = /[?？]\s*$/u.test(untagged);
    ownQuestion = isQuestion && grammars.some(({ sets }) => sets.named.has(keyOf(tokens, 0, tokens.length))) ? `${untagged} ` : '';
    for (const grammar of grammars) {
      if (contains(tokens, grammar.sets.pretend)) ignored.add(grammar);
      if (ignored.has(grammar)) continue;
      const greets = contains(greeting, grammar.sets.greet);
      for (const one of statementsOf({ tokens, isQuestion, greets, text: untagged }, grammar)) found.set(one.fact, one);
    }
  }
  return [...found.values()];
}

/** "…, okay?" requests agreement to a statement. */
const questionTag = /[,，、;] ?[^,，、?？]{1,12}[?？]\s*$/u;
const quotations = /["«„“”「『]\s*([^"»“”」』]*?)\s*["»“”」』]|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu;
const quotedName =
  /^(?:\p{Lu}[\p{L}\p{M}'.-]*(?: \p{Lu}[\p{L}\p{M}'.-]*){0,2}|[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}ー]{1,5})$/u;
const sentenceBorders =
  /(?<=[。！？])|(?<=(?<!(?<!\p{L})(?:Dr|Prof|Mr|Mrs|Ms|Sr|Sra|St|Ing|\p{Lu}))[.!?…])\s+(?=\S)|(?<=[!?])(?=\p{Lo})|\n/u;

/** A quoted name stays. Other quotations make their clause unknown. */
const splitSentences = (content: string): readonly string[] =>
  content
    .normalize('NFKC')
    .replace(/[’‘ʼ`´]/gu, "'")
    .replace(quotations, (_, double?: string, single?: string) => {
      const quoted = double ?? single ?? '';
      return quotedName.test(quoted) ? quoted : ' 0 ';
    })
    .split(sentenceBorders);

interface Sentence {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly isQuestion: boolean;
  /** The content begins with a greeting. */
  readonly greets: boolean;
}

/** Tokens between two borders, and the border before them. */
interface Clause {
  readonly from: number;
  readonly to: number;
  readonly border: Border;
}

function splitClauses(tokens: readonly Token[], { borders }: Grammar): readonly Clause[] {
  const clauses: Clause[] = [];
  let from = 0;
  let border: Border = 'comma';
  for (let at = 0; at <= tokens.length; at += 1) {
    const length = phraseAt(tokens, at, borders);
    if (at < tokens.length && length === 0 && !tokens[at]?.afterBorder) continue;
    if (at > from) clauses.push({ from, to: at, border });
    border = borders.get(keyOf(tokens, at, length)) ?? 'comma';
    from = at + length;
    at = Math.max(at, from - 1);
  }
  return clauses;
}

function* statementsOf(sentence: Sentence, grammar: Grammar): Generator<Statement> {
  const { tokens } = sentence;
  const clauses = splitClauses(tokens, grammar);
  let start = 0;
  for (let length = 1; length > 0; start += length) length = phraseAt(tokens, start, grammar.sets.idle);
  const other = phraseAt(tokens, start, grammar.sets.others);
  const isLanguage = (at: number) => grammar.lexicons[0]?.get(tokens[at]?.key ?? '')?.some(({ mark }) => mark === 'L');
  /** Verbs of later clauses are theirs: "My clients call me and answer in English". "My English is bad" is about the user. */
  const isAboutOthers = other > 0 && !isLanguage(start + other) && !isLanguage(start + other + 1);
  const spans = [0, 1, 2].flatMap((more) =>
    clauses.map((begin, first) => [begin, clauses[first + more]] as const).toReversed(),
  );
  for (const [index, form] of forms.entries()) {
    const lexicon = grammar.lexicons[index] ?? new Map();
    for (const [begin, end] of spans) {
      if (end === undefined || begin.border === 'even' || (isAboutOthers && begin.from > 0 && /and|comma/.test(begin.border))) continue;
      const isQuestion = sentence.isQuestion && end === clauses.at(-1);
      const span = { ...sentence, isQuestion, tokens: tokens.slice(begin.from, end.to) };
      const value = valueOf(span, form, lexicon, grammar);
      if (value === undefined || isLimited(tokens, clauses, begin, end, grammar)) continue;
      yield { fact: form.fact, value };
      break;
    }
  }
}

/**
 * Whether other clauses make the statement a condition's or somebody else's. A condition counts before the statement, and
 * at the beginning of a later clause. It does not count within a reason, after "even", or in a listed phrase.
 */
function isLimited(
  tokens: readonly Token[],
  clauses: readonly Clause[],
  begin: Clause,
  end: Clause,
  { row, sets, lexicons }: Grammar,
): boolean {
  const conditionForm = row.conditionForm && new RegExp(row.conditionForm, 'u');
  for (const { from, to, border } of clauses) {
    const isBefore = from < begin.from;
    if (border === 'reason' && !isBefore) return false;
    if (border === 'even' || (!isBefore && from < end.to)) continue;
    for (let at = from; at < (isBefore ? to : Math.min(to, from + 2)); ) {
      const near = tokens.slice(0, to);
      const listed = lexicons[2] ? phraseAt(near, at, lexicons[2]) : 0;
      const limiting = phraseAt(near, at, sets.unless);
      if (limiting > 0 && limiting >= listed) return true;
      if (isBefore && conditionForm?.test(tokens[at]?.key ?? '')) return true;
      at += Math.max(listed, 1);
    }
  }
  return false;
}

/** Gives each token a role so that their order is the one of the form, and returns the value. */
function valueOf(clause: Sentence, form: Form, lexicon: Lexicon, grammar: Grammar): string | undefined {
  const { tokens, isQuestion } = clause;
  const { sets, row } = grammar;
  const order = isQuestion ? form.asked : form.said;
  if (order === undefined) return undefined;
  const failed = new Set<string>();
  const read = (at: number, marks: string, value?: string, name?: readonly Token[]): string | undefined => {
    if (at === tokens.length)
      return order.test(marks) && (!name || isName(name, marks, clause, grammar)) ? value : undefined;
    const state = `${at} ${marks} ${value}`;
    if (failed.has(state)) return undefined;
    failed.add(state);
    const listed = () => {
      for (let length = Math.min(longestPhrase, tokens.length - at); length > 0; length--)
        for (const { mark, value: stated = value } of lexicon.get(keyOf(tokens, at, length)) ?? []) {
          if (mark === 'r' && (!name || contains(tokens.slice(at), sets.unless))) continue;
          const found = read(mark === 'r' ? tokens.length : at + length, marks + mark, stated, name);
          if (found !== undefined) return found;
        }
      return undefined;
    };
    const asName = () => {
      if (form.fact === 'display_name' && !name)
        for (const length of nameLengths(tokens, at, row)) {
          const named = tokens.slice(at, at + length);
          const text = clause.text.slice(named[0]?.start, named.at(-1)?.end);
          const found = read(at + length, `${marks}n`, text, named);
          if (found !== undefined) return found;
        }
      return undefined;
    };
    const found = row.unspaced ? (asName() ?? listed()) : (listed() ?? asName());
    if (found !== undefined) return found;
    if (form.fact === 'timezone')
      for (const { length, mark, value: zone } of zonesAt(tokens, at, row)) {
        const found = read(at + length, marks + mark, zone);
        if (found !== undefined) return found;
      }
    return undefined;
  };
  return read(0, '');
}

const isUpper = ({ text }: Token) => /^[\p{Lu}\p{Lo}]/u.test(text);

/** How many tokens from here can be a name, the likeliest first. */
function nameLengths(tokens: readonly Token[], from: number, row: Row): readonly number[] {
  const near = tokens.slice(from, from + 12);
  if (row.unspaced) return near.map((_, index) => index + 1);
  const shape = near.map((token, index) => {
    if (index > 0 && token.afterBorder) return '|';
    if (isUpper(token)) return 'U';
    return words.beforeNames?.has(token.key) ? 't' : 'l';
  });
  const [longest = ''] = /^t?U(?:t{0,2}U){0,3}/.exec(shape.join('')) ?? [];
  const ends = [...longest].flatMap((letter, index) => (letter === 'U' ? [index + 1] : []));
  return ends.length > 0 ? ends.toReversed() : [1];
}

/** A name after "I'm" must not be another word that has a capital. In lower case, it must be listed. */
function isName(
  name: readonly Token[],
  marks: string,
  { text, greets }: Sentence,
  { row, sets, lexicons: [languages, , listed = new Map()] }: Grammar,
): boolean {
  const isSure = /[NBE]/.test(marks);
  const key = keyOf(name, 0, name.length);
  const isListed =
    words.titles.has(name[0]?.key ?? '') ||
    words.wordNames.has(key) ||
    name.some((_, at) => words.firstNames.has(keyOf(name, 0, at + 1)) && (at > 0 || !row.unspaced));
  const [first] = name;
  if (!first || name.some(({ text: part }) => /[\d/]/.test(part)) || name.at(-1)?.key.endsWith("'") || name.some((token) => words.neverNames.has(token.key))) return false;
  if (languages?.get(key)?.some(({ mark }) => mark === 'L')) return false;
  if (row.unspaced && /^\p{Lo}/u.test(first.text)) {
    if (name.some((token, at) => token.key === ':' || phraseAt(name, at, listed) > 1)) return false;
    const joined = text.slice(first.start, name.at(-1)?.end);
    if (new RegExp(row.noName ?? '^$', 'u').test(joined)) return false;
    if (isSure || words.firstNames.has(key)) return true;
    if (new RegExp(row.commonForm ?? '^$', 'u').test(joined)) return false;
    return (greets || isListed) && new RegExp(row.nameForm ?? '^$', 'u').test(joined);
  }
  if (!name.some(isUpper)) return words.firstNames.has(key);
  if (isSure || isListed) return true;
  if (name.some((token) => sets.common.has(token.key))) return false;
  if (row.commonForm && name.some((token) => new RegExp(row.commonForm ?? '', 'u').test(token.key))) return false;
  return marks.includes('A') || greets;
}
