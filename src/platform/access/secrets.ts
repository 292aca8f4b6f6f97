/** Secrets that callers send, compared in constant time (docs/specification/http.md#credentials). */
import { hash, timingSafeEqual } from 'node:crypto';

export type SecretMatcher = (given: string) => boolean;

/** Whether `given` is one of `accepted`. Both sides are hashed, so that neither length nor place shows in the time. */
export function matchSecret(accepted: readonly string[]): SecretMatcher {
  const digests = accepted.map(digest);
  return (given) => {
    const sought = digest(given);
    return digests.reduce((found, candidate) => timingSafeEqual(candidate, sought) || found, false);
  };
}

function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
