/**
 * Reads where users live from what they write about themselves: "I live in Vienna, so use the time here". Words that are not
 * listed can be after the place and in other clauses, unless they refuse the statement.
 */
import { hasOutside, homeAt, Phrases, type Row, type Token } from './words.ts';

/** The roles of listed phrases, with the letters for `orders`. A role without a letter may be anywhere before the place. */
const roles = {
  /** "I live", before the place. */
  home: 'h',
  /** "I'm in", which can be travel. */
  homeHere: 'i',
  /** "Ich bin" and, after the place, "gezogen". */
  homeBegin: 'b',
  homeClose: 'c',
  /** "Is where I live", after the place. */
  homeEnd: 'e',
  /** "From", before a place that was left. */
  leave: 'f',
  /** "For good", "since", and what else shows that it is not travel. */
  stay: 's',
  near: '',
} as const;
type Role = keyof typeof roles;
/** What refuses a residence in its clause and in the whole text, what is about times, and what means the time of a place. */
const checks = ['brief', 'gone', 'timely', 'local'] as const;
export type ResidenceLists = Readonly<Partial<Record<Role | (typeof checks)[number], string>>>;

const orders = /^s*(?:[hi]s*(?:fQs*)?P|(?:bs*)?Ps*e|bs*(?:fQs*)?Ps*c)$/;
/** "Since last May" and, between the place and the verb, a district. */
const [mostInDate, mostUnknown] = [2, 4];

export interface ResidenceGrammar {
  readonly row: Row;
  readonly lexicon: Phrases<string>;
  readonly lists: Readonly<Record<(typeof checks)[number], Phrases<true>>>;
}

export function residenceGrammar(
  row: Row,
  lists: ResidenceLists,
  idle: readonly (string | undefined)[],
): ResidenceGrammar {
  const lexicon = new Phrases<string>().add(':', '');
  for (const list of idle) lexicon.add(list, '');
  for (const [role, mark] of Object.entries(roles)) lexicon.add(lists[role as Role], mark);
  return {
    row,
    lexicon,
    lists: Object.fromEntries(
      checks.map((check) => [check, new Phrases<true>().add(lists[check], true)]),
    ) as ResidenceGrammar['lists'],
  };
}

export interface Residence {
  readonly zone: string;
  /** After the last token that was read. */
  readonly end: number;
  /** Where the user is, but might not live. */
  readonly isHere: boolean;
}

/** The residence that a clause states. */
export function residenceIn(
  clause: readonly Token[],
  { row, lexicon, lists }: ResidenceGrammar,
): Residence | undefined {
  const failed = new Set<string>();
  const read = (at: number, marks: string, unknown: number, zone?: string): Residence | undefined => {
    if (zone !== undefined && orders.test(marks)) {
      return { zone, end: at, isHere: marks.includes('i') };
    }
    const state = `${at} ${marks} ${unknown} ${zone}`;
    if (at >= clause.length || failed.has(state)) return undefined;
    failed.add(state);
    const place = homeAt(clause, at, row);
    const isLeft = marks.endsWith('f');
    if (place && (isLeft || zone === undefined)) {
      const found = read(place.end, marks + (isLeft ? 'Q' : 'P'), unknown, isLeft ? zone : place.zone);
      if (found) return found;
    }
    for (const { length, value } of lexicon.at(clause, at)) {
      const mark = value === 's' && marks.endsWith('s') ? '' : value;
      const found = read(at + length, marks + mark, unknown, zone);
      if (found) return found;
    }
    if (/^\p{N}/u.test(clause[at]?.key ?? '')) return read(at + 1, marks, unknown, zone);
    const isDate =
      marks.endsWith('s') ||
      (marks === '' && [1, 2].some((more) => lexicon.at(clause, at + more).some(({ value }) => value === 's')));
    if (row.unspaced || unknown === (zone === undefined ? mostInDate : mostUnknown) || (zone === undefined && !isDate))
      return undefined;
    return read(at + 1, marks, unknown + 1, zone);
  };
  const found = read(0, '', 0);
  if (!found || hasOutside(clause, lists.brief, lexicon)) return undefined;
  return completed(clause, found, { row, lexicon });
}

/** A country or region after the city counts: "Paris, Texas". After it, only Japanese allows no unknown words, because a noun can follow. */
function completed(
  clause: readonly Token[],
  found: Residence,
  { row, lexicon }: Pick<ResidenceGrammar, 'row' | 'lexicon'>,
): Residence | undefined {
  let { zone } = found;
  let isNear = true;
  for (let at = found.end; at < clause.length; ) {
    const place: ReturnType<typeof homeAt> = isNear ? homeAt(clause, at, row) : undefined;
    const [listed] = lexicon.at(clause, at);
    if (!place && !listed && row.code === 'ja') return undefined;
    if (place) ({ zone } = place);
    isNear = place !== undefined || (isNear && listed?.value === '');
    at = place?.end ?? at + (listed?.length ?? 1);
  }
  return { ...found, zone, end: clause.length };
}
