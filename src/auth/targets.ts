/** Validates the URL where a sign-in may end (docs/specification/auth.md#login). No other code does. */
import { matchOrigins } from '#platform/http/cors.ts';

export interface Targets {
  /** Returns the normalized URL, or `undefined` if it is not allowed. */
  validate(next: unknown): string | undefined;
  /** DEFAULT_REDIRECT_ORIGIN, without a trailing slash. */
  readonly fallback: string;
}

const maxLength = 2048;

/** `origins`: in the browser's spelling, without wildcards. */
export function createTargets(
  origins: readonly string[],
  fallback: string,
  onRefused: (origin: string) => void = () => undefined,
): Targets {
  const isAllowed = matchOrigins(origins);
  return {
    fallback,
    validate: (next) => {
      if (typeof next !== 'string' || next.length > maxLength) return undefined;
      // Parsers disagree on characters that some drop or read as a slash, so these are rejected before parsing. So is user info.
      if (!printable.test(next) || !/^https?:\/\/[^/?#@]+([/?#]|$)/i.test(next) || !URL.canParse(next))
        return undefined;
      const url = new URL(next);
      if (url.username !== '' || url.password !== '') return undefined;
      if (!isAllowed(url.origin)) {
        onRefused(url.origin);
        return undefined;
      }
      return url.href.length > maxLength ? undefined : url.href;
    },
  };
}

/** No spaces, control characters or backslashes. */
const printable = /^[\x21-\x5b\x5d-\x7e\u{80}-\u{10ffff}]+$/u;

/** Adds `referral=success&inviter=…` to a target and replaces parameters with the same names. */
export function withReferral(target: string, inviter: string): string {
  const url = new URL(target);
  url.searchParams.set('referral', 'success');
  url.searchParams.set('inviter', inviter);
  return url.href;
}
