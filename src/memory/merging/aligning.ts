/** Finds the tokens that one of two readings has and the other lacks, by their longest common subsequence. */
import type { Token } from './lexicon.ts';
import type { Reading } from './reading.ts';

/** The work that one comparison may take, in pairs of tokens. */
const mostPairs = 250_000;

export interface Alignment {
  /** The tokens that only the left reading has. */
  readonly left: Reading;
  readonly right: Reading;
  /** The number of places at which they differ. */
  readonly gaps: number;
  /** What is between their common beginning and their common end. */
  readonly middles: readonly [Reading, Reading];
}

export function areAlike(left: Token, right: Token): boolean {
  if (left.value === right.value) return true;
  return left.singular !== undefined && left.singular === right.singular;
}

/** Returns `undefined` for readings that differ too far for a comparison. */
export function align(left: Reading, right: Reading): Alignment | undefined {
  let start = 0;
  while (start < left.length && start < right.length && alikeAt(left, right, start, start)) start += 1;
  let [leftEnd, rightEnd] = [left.length, right.length];
  while (leftEnd > start && rightEnd > start && alikeAt(left, right, leftEnd - 1, rightEnd - 1)) {
    leftEnd -= 1;
    rightEnd -= 1;
  }
  const middles = [left.slice(start, leftEnd), right.slice(start, rightEnd)] as const;
  const parts = alignParts(...middles);
  return parts && { ...parts, middles };
}

function alikeAt(left: Reading, right: Reading, leftPlace: number, rightPlace: number): boolean {
  const [one, other] = [left[leftPlace], right[rightPlace]];
  return one !== undefined && other !== undefined && areAlike(one, other);
}

function alignParts(left: Reading, right: Reading): Omit<Alignment, 'middles'> | undefined {
  if (left.length * right.length > mostPairs) return undefined;
  const width = right.length + 1;
  /** The length of the longest common subsequence of the rests from a pair of places. */
  const lengths = new Uint16Array((left.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1)
    for (let column = right.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] = alikeAt(left, right, row, column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
  const only = { left: [] as Token[], right: [] as Token[], gaps: 0 };
  let [row, column, isInGap] = [0, 0, false];
  while (row < left.length || column < right.length) {
    const [one, other] = [left[row], right[column]];
    if (one !== undefined && other !== undefined && areAlike(one, other)) {
      row += 1;
      column += 1;
      isInGap = false;
      continue;
    }
    if (!isInGap) only.gaps += 1;
    isInGap = true;
    if (one !== undefined && (other === undefined || at(row + 1, column) >= at(row, column + 1))) {
      only.left.push(one);
      row += 1;
    } else if (other !== undefined) {
      only.right.push(other);
      column += 1;
    }
  }
  return only;
}
