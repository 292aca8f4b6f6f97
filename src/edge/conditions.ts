/** Conditional reads (RFC 9110, §13): compares what a client already has with what the store contains. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ObjectHead } from '#platform/objects/objects.ts';

export type Verdict = 'perform' | 'not_modified' | 'failed';

/** Evaluates conditions in the order of §13.2.2. If both a tag and a date are present, only the entity tag counts. */
export function judgeConditions(headers: IncomingHttpHeaders, head: ObjectHead): Verdict {
  const modifiedS = Math.floor(head.modifiedAt.getTime() / 1000);
  const ifMatch = headers['if-match'];
  const unmodifiedSince = secondsOf(headers['if-unmodified-since']);
  if (ifMatch !== undefined) {
    if (!names(ifMatch, head.etag, 'strong')) return 'failed';
  } else if (unmodifiedSince !== undefined && modifiedS > unmodifiedSince) return 'failed';

  const ifNoneMatch = headers['if-none-match'];
  const modifiedSince = secondsOf(headers['if-modified-since']);
  if (ifNoneMatch !== undefined) return names(ifNoneMatch, head.etag, 'weak') ? 'not_modified' : 'perform';
  return modifiedSince !== undefined && modifiedS <= modifiedSince ? 'not_modified' : 'perform';
}

/** Reports whether the request has a condition or a range, so that the object's metadata is needed before it is opened. */
export function isConditional(headers: IncomingHttpHeaders): boolean {
  return ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'range'].some(
    (name) => headers[name] !== undefined,
  );
}

function names(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  return (list.match(/(W\/)?"[^"]*"/g) ?? []).some(
    (tag) => tag === etag || (comparison === 'weak' && tag === `W/${etag}`),
  );
}

function secondsOf(date: string | undefined): number | undefined {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}
