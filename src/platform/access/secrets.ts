/** Constant-time comparison of secrets that callers send (docs/specification/http.md#credentials). */
import { hash, timingSafeEqual } from 'node:crypto';

export type SecretMatcher = (given: string) => boolean;

/** Reports whether `given` is one of `accepted`. Both sides are hashed, so timing reveals neither the length nor the position. */
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
