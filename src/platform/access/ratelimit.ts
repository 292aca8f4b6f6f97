/**
 * Limits how often one user may call one service (RATE_LIMIT_PER_MINUTE, docs/specification/http.md#limits). Each process counts
 * separately.
 */
import { createLru } from '../cache/lru.ts';
import type { Clock } from '../clock.ts';
import { problems } from '../problem.ts';

/** Throws `rate_limited` (429) if `subject` has used up its calls. */
export type RateLimit = (subject: string) => void;

/** Maximum number of remembered users. A user who was evicted starts with a full bucket. */
const maxSubjects = 100_000;

/** Creates a token bucket per subject. It holds one minute's calls and refills evenly. 0: no limit. */
export function limitRate(perMinute: number, clock: Clock): RateLimit {
  if (perMinute === 0) return () => undefined;
  const perMs = perMinute / 60_000;
  const buckets = createLru<string, { calls: number; atMs: number }>(maxSubjects);
  return (subject) => {
    const nowMs = clock.now();
    const bucket = buckets.get(subject) ?? { calls: perMinute, atMs: nowMs };
    const calls = Math.min(perMinute, bucket.calls + (nowMs - bucket.atMs) * perMs);
    if (calls < 1) throw problems.rate_limited({ retryAfterS: Math.ceil((1 - calls) / perMs / 1000) });
    buckets.set(subject, { calls: calls - 1, atMs: nowMs });
  };
}
