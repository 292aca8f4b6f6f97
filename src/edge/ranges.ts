/** Range and If-Range of RFC 9110, §§13.1.5 and 14, for one range, as pure functions. */
import type { ObjectHead } from '#platform/objects/objects.ts';

export interface ByteRange {
  /** Inclusive positions, within the object. */
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the requested part of `size` bytes. Another unit, a malformed range or several ranges return `whole`, as the RFC allows. A
 * range that starts beyond the end is `unsatisfiable` (416).
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '');
  if (match === null) return 'whole';
  const [first, last] = [match[1], match[2]].map((digits) => (digits ? Number(digits) : undefined));
  if (first === undefined) {
    if (last === undefined) return 'whole';
    return last === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - last), end: size - 1 };
  }
  if (last !== undefined && last < first) return 'whole';
  if (first >= size) return 'unsatisfiable';
  return { start: first, end: Math.min(last ?? size - 1, size - 1) };
}

/** Reports whether a range response is allowed: without If-Range, or if it matches the current object (strong comparison). */
export function rangeStillApplies(ifRange: string | undefined, head: ObjectHead): boolean {
  if (ifRange === undefined) return true;
  return ifRange.startsWith('"') ? ifRange === head.etag : ifRange === head.modifiedAt.toUTCString();
}
