/** What two contents of one entity and type are to each other: one memory, two linked ones, or two. */
import type { LinkKind } from '../api.ts';
import { isNegated, isSameBut, isSameButOpposites, judge, readsTheSame, type Verdict } from './judging.ts';
import { type Draft, type Reading, readTogether } from './reading.ts';

export interface ComparingOptions {
  /** Calibrated. */
  readonly similarity: number;
  /** The similarity compares words and not meanings. */
  readonly lexical: boolean;
  /** Contents merge above this similarity (docs/specification/memory.md#adding). */
  readonly mergeAbove: number;
}

export interface Comparison {
  /** The two can be one memory. */
  readonly isTwin: boolean;
  /** The link that two memories get. */
  readonly link: LinkKind | undefined;
}

/** Above this similarity, operators see a link between contents that contradict each other. */
const linkAbove = 0.75;

export function comparePair(left: Draft, right: Draft, options: ComparingOptions): Comparison {
  const readings = readTogether(left, right);
  const verdict = judge(...readings, options.lexical);
  const isNear = options.similarity > options.mergeAbove;
  return {
    isTwin: verdict === 'same' && (isNear || readsTheSame(...readings)),
    link: linkOf(verdict, options, readings),
  };
}

function linkOf(
  verdict: Verdict,
  { similarity, mergeAbove }: ComparingOptions,
  [left, right]: readonly [Reading, Reading],
): LinkKind | undefined {
  const isNear = similarity > linkAbove;
  if (verdict === 'negation') return isNear || isNegated(left, right) ? 'conflict' : undefined;
  if (verdict === 'number' || verdict === 'date')
    return isNear || isSameBut(left, right, verdict) ? 'conflict' : undefined;
  if (verdict === 'opposite') return isNear || isSameButOpposites(left, right) ? 'conflict' : undefined;
  if (verdict === 'roles' && isNear) return 'conflict';
  return similarity > mergeAbove ? 'related' : undefined;
}
