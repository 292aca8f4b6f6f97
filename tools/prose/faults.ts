/** The rules for a text without markup (CONTRIBUTING.md#style). */
import { terms } from './terms.ts';

export interface Fault {
  /** The position in the text. */
  readonly index: number;
  readonly message: string;
}

export const maxWords = 30;

/** Clauses in place of a name. Questions may start with `What`. */
const opening = /^\P{L}*(what|whoever|whatever|of|so that|that)\b(?! course)/iu;

const matchers = terms.map(({ words, use, allow = [] }) => ({
  term: new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, 'gi'),
  allowed: allow.map((phrase) => new RegExp(`(?<!\\w)(?:${phrase})(?!\\w)`, 'gi')),
  use,
}));

/** Callers replace code with this letter. A list of names is no long sentence. */
export const codeMask = 'X';
const isCode = (word: string) => /^X+$/.test(word);

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

export function findFaults(text: string): readonly Fault[] {
  return [...findTerms(text), ...findSentenceFaults(text)].sort((a, b) => a.index - b.index);
}

function findTerms(text: string): readonly Fault[] {
  return matchers.flatMap(({ term, allowed, use }) => {
    const excused = allowed.flatMap((phrase) => [...text.matchAll(phrase)].map(rangeOf));
    return [...text.matchAll(term)]
      .filter((match) => !excused.some(([start, end]) => start <= match.index && rangeOf(match)[1] <= end))
      .map((match) => ({ index: match.index, message: `"${match[0]}": write ${use}` }));
  });
}

const rangeOf = (match: RegExpExecArray): readonly [number, number] => [match.index, match.index + match[0].length];

function findSentenceFaults(text: string): readonly Fault[] {
  return [...sentences.segment(text)].flatMap(({ segment, index }) => {
    const words = (segment.match(/[\p{L}\p{N}][\p{L}\p{N}'’.-]*/gu) ?? []).filter((word) => !isCode(word)).length;
    const long = words > maxWords ? [{ index, message: `a sentence of ${words} words: at most ${maxWords}` }] : [];
    const clause = segment.trimEnd().endsWith('?') ? undefined : opening.exec(segment)?.[1];
    const opened =
      clause === undefined
        ? []
        : [{ index, message: `a sentence that opens with "${clause}": start with the subject` }];
    return [...long, ...opened];
  });
}
