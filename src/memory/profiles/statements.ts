/**
 * Reads a name, a language or a time zone from a statement of the user about themselves. Each word of a statement must have
 * a listed role (languages.json), and the roles must be in one of the orders of `forms`. So a negation, another subject or
 * any unknown word states nothing. In doubt, nothing is read.
 */
import data from './languages.json' with { type: 'json' };
import {
  type Residence,
  type ResidenceGrammar,
  type ResidenceLists,
  residenceGrammar,
  residenceIn,
} from './residence.ts';
import { hasOutside, knownZone, languagesIn, Phrases, type Row, type Token, tokenize, zonesAt } from './words.ts';

export interface Statement {
  readonly fact: 'display_name' | 'language' | 'timezone';
  readonly value: string;
}

/** The roles of listed phrases, with the letters for the orders of `forms`. A role without letters may be anywhere. */
const roles = {
  /** Greetings, politeness, and what else changes nothing. */
  idle: '',
  /** "Please", "always", "from now on". */
  lasting: 'p',
  /** "Answer", "I prefer". */
  wish: 'w',
  /** "Speak", which is only a wish together with `toMe` or `lasting`. */
  speak: 's',
  toMe: 'm',
  /** What else is in a wish: "your messages", "in". */
  talk: '',
  /** "Could you". */
  ask: 'q',
  /** "Can we speak". */
  askUs: 'qw',
  /** "Call me", and other words that only a name follows. */
  named: 'N',
  /** "Du kannst mich" and "nennen". */
  nameBegin: 'B',
  nameEnd: 'E',
  /** "The user's" and "first name". */
  own: 'o',
  nameNoun: 'K',
  /** "I'm", which much else can follow. */
  am: 'A',
  /** "This is", which must not be about another person. */
  thisIs: 'T',
  /** "Just", which only a common first name follows. */
  itIs: 'I',
  /** "Sam here". */
  here: 'H',
  /** "From", after which a name is complete. */
  trail: 'r',
  /** "Everyone at work", before "calls me". */
  lead: '',
  article: '',
  /** "Time zone", and "time", which needs a place or `mine`. */
  zone: 'z',
  clock: 'c',
  /** "I'm in", "use". */
  mine: 'i',
  /** What else is about times: "all my reminders". */
  hours: 'h',
} as const;
type Role = keyof typeof roles;

/** The letters of a clause, with L (language), P (place), Z (time zone) and n (name) for values. */
type Order = (marks: string) => boolean;
interface Form {
  readonly fact: Statement['fact'];
  readonly roles: readonly Role[];
  /** One of these phrases is in each statement, apart from values. */
  readonly anchors: readonly Role[];
  readonly said: Order;
  /** The order in a question, which must be a request. */
  readonly asked: Order;
}
const isWish: Order = (marks) =>
  marks.split('L').length === 2 && (/[wp]/.test(marks) || (marks.includes('s') && marks.includes('m')));
const isZone: Order = (marks) => {
  const at = marks.search(/[PZ]/);
  const [before, after] = [marks.slice(0, at), marks.slice(at + 1)];
  const isMine = marks.includes('i') || (/^p*z[hp]*$/.test(before) && /^[hcp]*$/.test(after));
  const isTime = marks[at] === 'Z' || /[cz]/.test(before) || /^(?:[hp]*i)?[cz]/.test(after);
  return at >= 0 && isMine && isTime && !/[PZ]/.test(after);
};
const withoutLasting = (marks: string) => marks.replace(/[pq]/g, '');
const forms: readonly Form[] = [
  {
    fact: 'language',
    roles: ['idle', 'lasting', 'talk', 'wish', 'speak', 'toMe', 'ask', 'askUs'],
    anchors: [],
    said: isWish,
    asked: (marks) => marks.includes('q') && isWish(marks),
  },
  {
    fact: 'timezone',
    roles: ['idle', 'lasting', 'zone', 'clock', 'mine', 'hours', 'article'],
    anchors: ['zone', 'clock'],
    said: isZone,
    asked: () => false,
  },
  {
    fact: 'display_name',
    roles: [
      ...(['idle', 'lasting', 'ask', 'named', 'nameBegin', 'nameEnd', 'own', 'nameNoun'] as const),
      ...(['am', 'thisIs', 'itIs', 'here', 'trail', 'lead', 'article'] as const),
    ],
    anchors: ['named', 'nameBegin', 'nameEnd', 'nameNoun', 'am', 'thisIs', 'itIs', 'here'],
    said: (marks) => /^(?:(?:NnE?|BnE|nE|An|nH|(?:oK|Ko)nE?|n(?:oK|Ko))r?|[IT]n)$/.test(withoutLasting(marks)),
    asked: (marks) => marks.includes('q') && /^(?:Nn|BnE|nE)r?$/.test(withoutLasting(marks)),
  },
];

/** What a phrase is: the letters of a role and, if it states one, the value. */
interface Part {
  readonly mark: string;
  readonly value?: string;
}
/** Each statement of residence contains a phrase of one of them. */
const homeRoles = ['home', 'homeHere', 'homeClose', 'homeEnd'] as const;
const borderLists = ['and', 'but', 'reason', 'even'] as const;
type Border = (typeof borderLists)[number] | 'comma';
/** Phrases that refuse a statement or a name, and others to look up. */
const checkLists = [
  'unless',
  'others',
  'pretend',
  'common',
  'greet',
  'idle',
  'named',
  'not',
  'governed',
  'infinitive',
  'occasion',
] as const;
const patterns = ['conditionForm', 'commonForm', 'noName', 'nameForm'] as const;
type Lists = Row &
  Readonly<Partial<Record<Role | Border | (typeof checkLists | typeof patterns)[number], string>>> & {
    readonly residence?: ResidenceLists;
  };

interface Grammar {
  readonly row: Row;
  readonly lexicons: Readonly<Record<Statement['fact'], Phrases<Part>>>;
  readonly languages: Phrases<Part>;
  readonly borders: Phrases<Border>;
  readonly lists: Readonly<Record<(typeof checkLists)[number], Phrases<true>>>;
  readonly patterns: Readonly<Record<(typeof patterns)[number], RegExp>>;
  readonly residence: ResidenceGrammar;
}
/** A form of a grammar, found by one of its anchors. */
interface Candidate {
  readonly grammar: Grammar;
  readonly form: Form;
}

const rows: readonly Lists[] = data.languages;
const patternsByCode = Object.fromEntries(
  rows.map((row) => [
    row.code,
    Object.fromEntries(patterns.map((pattern) => [pattern, new RegExp(row[pattern] ?? '^$', 'u')])),
  ]),
);

function grammarOf(row: Lists): Grammar {
  const languages = new Phrases<Part>();
  const lexicons = forms.map((form) => {
    const lexicon = new Phrases<Part>().add(':', { mark: '' });
    for (const role of form.roles) lexicon.add(row[role], { mark: roles[role] });
    return [form.fact, lexicon] as const;
  });
  const { language: wishes } = Object.fromEntries(lexicons);
  for (const [value, names] of languagesIn(row))
    for (const list of [languages, wishes]) list?.add(names, { mark: 'L', value });
  const borders = new Phrases<Border>();
  for (const border of borderLists) borders.add(row[border], border);
  return {
    row,
    languages,
    borders,
    lexicons: Object.fromEntries(lexicons) as Grammar['lexicons'],
    lists: Object.fromEntries(
      checkLists.map((list) => [list, new Phrases<true>().add(row[list], true)]),
    ) as Grammar['lists'],
    patterns: patternsByCode[row.code] as Grammar['patterns'],
    residence: residenceGrammar(row, row.residence ?? {}, [row.idle, row.lasting, row.occasion]),
  };
}

function prepare() {
  const anchors = new Phrases<Candidate>();
  const zones: Candidate[] = [];
  const homes = new Phrases<Grammar>();
  for (const row of rows) {
    const grammar = grammarOf(row);
    for (const role of homeRoles) homes.add(row.residence?.[role], grammar);
    for (const form of forms) {
      const candidate = { grammar, form };
      for (const role of form.anchors) anchors.add(row[role], candidate);
      if (form.fact === 'timezone') zones.push(candidate);
      if (form.fact === 'language') for (const [, names] of languagesIn(row)) anchors.add(names, candidate);
    }
  }
  const listed = (list: string) => new Phrases<true>().add(list, true);
  return {
    anchors,
    zones,
    homes,
    firstNames: listed(data.firstNames),
    /** First names that are also other words count only with a capital. */
    wordNames: listed(data.wordNames),
    neverNames: listed(data.neverNames),
    titles: listed(data.titles),
    particles: listed(`${data.titles}, ${data.beforeNames}`),
  };
}
/** Prepared on first use, because a start does not need it. */
let prepared: ReturnType<typeof prepare> | undefined;
const words = () => (prepared ??= prepare());

/** Returns at most one statement of each fact: the last one. */
export function readStatements(content: string): readonly Statement[] {
  const found = new Map<Statement['fact'], Statement>();
  const sentences = splitSentences(content);
  const before: Token[] = [];
  let ownQuestion = '';
  for (const part of sentences) {
    const text = (ownQuestion + part).replace(questionTag, '');
    const tokens = tokenize(text);
    const isQuestion = /[?？]\s*$/u.test(text);
    const candidates = candidatesOf(tokens);
    /** "My name? Anna" */
    const asksOwnName = isQuestion && candidates.some(({ grammar }) => grammar.lists.named.is(tokens));
    ownQuestion = asksOwnName ? `${text} ` : '';
    before.push(...tokens);
    for (const { grammar, form } of candidates) {
      const value = statedIn(
        { text, tokens, isQuestion, greets: () => grammar.lists.greet.isIn(tokenize(content)) },
        form,
        grammar,
      );
      if (value !== undefined && !grammar.lists.pretend.isIn(before)) found.set(form.fact, { fact: form.fact, value });
    }
  }
  if (!found.has('timezone')) {
    const value = homeZone(sentences);
    if (value !== undefined) found.set('timezone', { fact: 'timezone', value });
  }
  return [...found.values()];
}

/** Residence states the time zone. A mere "I'm in Vienna" does so only if local times are meant. */
function homeZone(sentences: readonly string[]): string | undefined {
  const { homes } = words();
  const all = tokenize(sentences.join(' '));
  const grammars = new Set(all.flatMap((_, at) => homes.at(all, at).map(({ value }) => value)));
  for (const grammar of grammars) {
    const { lists, residence } = grammar;
    if (lists.pretend.isIn(all) || residence.lists.gone.isIn(all)) continue;
    const remarks = sentences.flatMap((text) => remarksIn(text, grammar));
    for (const remark of remarks) {
      const { home } = remark;
      if (!home) continue;
      const others = remarks.filter((other) => other !== remark);
      const timely = home.isHere ? others.filter(({ isLocal }) => isLocal) : remarks.filter(({ isTimely }) => isTimely);
      const isElsewhere = timely.some(({ isNegated, zones }) => isNegated || zones.some((zone) => zone !== home.zone));
      if (!isElsewhere && (!home.isHere || timely.length > 0)) return home.zone;
    }
  }
  return undefined;
}

/** What is in a clause about residence and times. */
interface Remark {
  readonly home: Residence | undefined;
  readonly isTimely: boolean;
  /** "Local time" */
  readonly isLocal: boolean;
  readonly isNegated: boolean;
  readonly zones: readonly string[];
}

function remarksIn(sentence: string, grammar: Grammar): readonly Remark[] {
  const { lists, residence, row } = grammar;
  const text = sentence.replace(questionTag, '');
  const tokens = tokenize(text);
  const clauses = splitClauses(tokens, grammar);
  const isQuestion = /[?？]\s*$/u.test(text);
  const isOthers = isAboutOthers(tokens, grammar);
  return clauses.map((clause, index) => {
    const part = tokens.slice(clause.from, clause.to);
    const isTheirs = index > 0 && clause.border !== 'reason' && isOthers;
    const canState = !isTheirs && clause.border !== 'even' && !(isQuestion && index === clauses.length - 1);
    const home = canState ? residenceIn(part, residence) : undefined;
    const isTimely = hasOutside(part, residence.lists.timely, residence.lexicon);
    return {
      home: home && !isLimited(tokens, clauses, clause, clauses.at(-1) ?? clause, grammar) ? home : undefined,
      isTimely,
      isLocal: residence.lists.local.isIn(part),
      isNegated: isTimely && hasOutside(part, lists.not, lists.idle),
      zones: isTimely ? part.flatMap((_, at) => zonesAt(part, at, row).map(({ value }) => value)) : [],
    };
  });
}

/** The forms of which the tokens contain an anchor. A time zone such as UTC+2 is one for each language. */
function candidatesOf(tokens: readonly Token[]): readonly Candidate[] {
  const { anchors, zones } = words();
  const found = tokens.flatMap((_, at) => anchors.at(tokens, at).map(({ value }) => value));
  const hasZone = tokens.some(({ text }) => knownZone(text) !== undefined);
  return [...new Set(hasZone ? [...found, ...zones] : found)];
}

/** "…, okay?" requests agreement to a statement. */
const questionTag = /[,，、;] ?[^,，、?？]{1,12}[?？]\s*$/u;
const quotations = /["«„“”「『]([^"«»„“”「」『』]*)["»“”」』]|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu;
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
      const quoted = (double ?? single ?? '').trim();
      return quotedName.test(quoted) ? quoted : ' 0 ';
    })
    .split(sentenceBorders);

interface Sentence {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly isQuestion: boolean;
  /** Whether the content contains a greeting. */
  readonly greets: () => boolean;
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
    const [next] = borders.at(tokens, at);
    if (at < tokens.length && !next && !tokens[at]?.afterBorder) continue;
    if (at > from) clauses.push({ from, to: at, border });
    border = next?.value ?? 'comma';
    from = at + (next?.length ?? 0);
    at = Math.max(at, from - 1);
  }
  return clauses;
}

/** Returns the value that a clause states, or up to three clauses together: "My name, by the way, is Anna". The last one counts. */
function statedIn(sentence: Sentence, form: Form, grammar: Grammar): string | undefined {
  const { tokens } = sentence;
  const clauses = splitClauses(tokens, grammar);
  const isOthers = isAboutOthers(tokens, grammar);
  for (const more of [0, 1, 2]) {
    for (const [first, begin] of [...clauses.entries()].toReversed()) {
      const end = clauses[first + more];
      const isTheirs = isOthers && first > 0 && (begin.border === 'and' || begin.border === 'comma');
      if (end === undefined || begin.border === 'even' || isTheirs) continue;
      if (begin.border === 'comma' && first > 0 && isGoverned(tokens.slice(begin.from, end.to), grammar)) continue;
      const isQuestion = sentence.isQuestion && end === clauses.at(-1);
      const value = readClause({ ...sentence, isQuestion, tokens: tokens.slice(begin.from, end.to) }, form, grammar);
      if (value !== undefined && !isLimited(tokens, clauses, begin, end, grammar)) return value;
    }
  }
  return undefined;
}

/** An earlier clause decides what the clause states: "I never asked, that you answer in French". */
const isGoverned = (clause: readonly Token[], { lists }: Grammar) =>
  lists.governed.lengthAt(clause, 0) > 0 || lists.infinitive.isIn(clause);

/** Verbs of later clauses are theirs: "My clients call me and answer in English". But "My English is bad" is about the user. */
function isAboutOthers(tokens: readonly Token[], { lists, languages }: Grammar): boolean {
  let start = 0;
  for (let length = 1; length > 0; start += length) length = lists.idle.lengthAt(tokens, start);
  const length = lists.others.lengthAt(tokens, start);
  const isLanguage = [0, 1].some((more) => languages.lengthAt(tokens, start + length + more) > 0);
  return length > 0 && !isLanguage;
}

/**
 * Whether other clauses make the statement a condition's or another person's. A condition counts before the statement, and
 * at the beginning of a later clause. It does not count within a reason, after "even", or in a listed phrase.
 */
function isLimited(
  tokens: readonly Token[],
  clauses: readonly Clause[],
  begin: Clause,
  end: Clause,
  { lists, lexicons, patterns }: Grammar,
): boolean {
  for (const { from, to, border } of clauses) {
    const isBefore = from < begin.from;
    if (border === 'reason' && !isBefore) return false;
    if (border === 'even' || (!isBefore && from < end.to)) continue;
    const near = tokens.slice(0, to);
    for (let at = from; at < (isBefore ? to : Math.min(to, from + 2)); ) {
      const listed = lexicons.display_name.lengthAt(near, at);
      const limiting = lists.unless.lengthAt(near, at);
      if (limiting > 0 && limiting >= listed) return true;
      if (isBefore && patterns.conditionForm.test(tokens[at]?.key ?? '')) return true;
      at += Math.max(listed, 1);
    }
  }
  return false;
}

/** Gives each token a role so that their order is the one of the form, and returns the value. */
function readClause(clause: Sentence, form: Form, grammar: Grammar): string | undefined {
  const { tokens, isQuestion } = clause;
  const { lists, row, lexicons } = grammar;
  const order = isQuestion ? form.asked : form.said;
  if (form.fact === 'timezone' && lists.occasion.isIn(tokens)) return undefined;
  const failed = new Set<string>();
  const read = (at: number, marks: string, value?: string, name?: readonly Token[]): string | undefined => {
    if (at === tokens.length)
      return order(marks) && (!name || isName(name, marks, clause, grammar)) ? value : undefined;
    const state = `${at} ${marks} ${value}`;
    if (failed.has(state)) return undefined;
    failed.add(state);
    for (const option of options(at, name)) {
      const to = option.mark === 'r' ? tokens.length : at + option.length;
      const found = read(to, marks + option.mark, option.value ?? value, option.name ?? name);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  /** Something follows: "Anna heiße ich nicht" names no one. */
  const canTrail = (at: number, length: number) =>
    (row.unspaced === true || at + length < tokens.length) && !lists.unless.isIn(tokens.slice(at));
  function* options(at: number, name: readonly Token[] | undefined) {
    const listed = lexicons[form.fact]
      .at(tokens, at)
      .map(({ length, value: part }) => ({ length, ...part, name: undefined }))
      .filter(({ mark, length }) => mark !== 'r' || (name && canTrail(at, length)));
    const names =
      form.fact === 'display_name' && !name
        ? nameLengths(tokens, at, row).map((length) => {
            const named = tokens.slice(at, at + length);
            return { length, mark: 'n', value: clause.text.slice(named[0]?.start, named.at(-1)?.end), name: named };
          })
        : [];
    /** Without spaces, the beginning of a name can be a listed phrase. */
    yield* row.unspaced ? [...names, ...listed] : [...listed, ...names];
    if (form.fact === 'timezone') for (const zone of zonesAt(tokens, at, row)) yield { ...zone, name: undefined };
  }
  return read(0, '');
}

const isUpper = ({ text }: Token) => /^[\p{Lu}\p{Lo}]/u.test(text);

/** How many tokens from here can be a name, the likeliest first. */
function nameLengths(tokens: readonly Token[], from: number, row: Row): readonly number[] {
  const near = tokens.slice(from, from + 12);
  const { firstNames, particles } = words();
  if (row.unspaced) {
    const border = near.findIndex(({ key, afterBorder }, index) => key === ':' || (afterBorder && index > 0));
    return near.slice(0, border < 0 ? undefined : border).map((_, index) => index + 1);
  }
  const shape = near.map((token, index) => {
    if (index > 0 && token.afterBorder) return '|';
    /** Arabic has no capitals, so that only known parts of names join. */
    if (index > 0 && row.code === 'ar' && ![particles, firstNames].some((list) => list.is([near[index - 1] ?? token])))
      return '|';
    if (isUpper(token)) return 'U';
    return particles.is([token]) ? 't' : 'l';
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
  { row, lists, lexicons, languages, patterns }: Grammar,
): boolean {
  const { firstNames, wordNames, neverNames, titles } = words();
  const isSure = /[NBEK]/.test(marks);
  const [first] = name;
  const last = name.at(-1);
  const isWrong = name.some((token) => /[\d/]/.test(token.text) || neverNames.is([token]));
  if (!first || !last || isWrong || last.key.endsWith("'") || languages.is(name)) return false;
  const begins = firstNames.lengthAt(name, 0);
  const joined = text.slice(first.start, last.end);
  if (patterns.noName.test(joined)) return false;
  if (row.unspaced && /^\p{Lo}/u.test(first.text)) {
    /** At its end, a name can have a form of address. */
    const hasPhrase = name.some((_, at) => {
      const length = lexicons.display_name.lengthAt(name, at);
      return length > 1 && at + length < name.length;
    });
    if (hasPhrase) return false;
    if (isSure || firstNames.is(name)) return true;
    return (greets() || begins > 1) && patterns.nameForm.test(joined) && !patterns.commonForm.test(joined);
  }
  if (marks.includes('T') && !greets()) return false;
  if (!name.some(isUpper)) return firstNames.is(name);
  if (isSure || begins > 0 || wordNames.is(name) || titles.is([first])) return true;
  const isCommon = name.some(
    (token) =>
      lists.common.is([token]) ||
      languages.is([token]) ||
      lists.idle.is([token]) ||
      patterns.commonForm.test(token.key),
  );
  return !isCommon && (greets() || (marks.includes('A') && name.length > 1));
}
