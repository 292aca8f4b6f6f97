/** Where a sign-in may end: the one place that judges addresses of browsers (docs/specification/auth.md#login). */

export interface Targets {
  /** `undefined`: nothing that may be followed. Otherwise the address as it was understood, and nothing else of it. */
  judge(next: unknown): string | undefined;
  /** DEFAULT_REDIRECT_ORIGIN, without a slash at its end. */
  readonly fallback: string;
}

const maxLength = 2048;

/** `origins`: as browsers spell them, without wildcards. */
export function createTargets(origins: readonly string[], fallback: string): Targets {
  const allowed = new Set(origins);
  return {
    fallback,
    judge: (next) => {
      if (typeof next !== 'string' || next.length > maxLength) return undefined;
      // What parsers drop, or read as a slash, is refused before any parses it: they disagree on it. So is user info.
      if (!printable.test(next) || !/^https?:\/\/[^/?#@]+([/?#]|$)/i.test(next) || !URL.canParse(next))
        return undefined;
      const url = new URL(next);
      if (url.username !== '' || url.password !== '' || !allowed.has(url.origin)) return undefined;
      return url.href.length > maxLength ? undefined : url.href;
    },
  };
}

/** No spaces, no control characters, no backslash. */
const printable = /^[\x21-\x5b\x5d-\x7e\u{80}-\u{10ffff}]+$/u;

/** `referral=success&inviter=…` added to a target; of the same names there, these alone stay. */
export function withReferral(target: string, inviter: string): string {
  const url = new URL(target);
  url.searchParams.set('referral', 'success');
  url.searchParams.set('inviter', inviter);
  return url.href;
}
