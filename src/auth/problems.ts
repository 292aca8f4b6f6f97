import { defineProblems } from '#platform/problem.ts';

/** Problems of the authentication service (docs/specification/auth.md). */
export const authProblems = defineProblems({
  no_session: { status: 401, message: 'There is no session. Sign in first.' },
  refresh_failed: { status: 401, message: 'The session has ended. Sign in again.' },
  forbidden_origin: {
    status: 403,
    message: 'Pages of this origin must not call this endpoint. Add the origin to ALLOWED_REDIRECT_ORIGINS.',
  },
  deletion_begun: { status: 409, message: 'The deletion of this account has begun and cannot be undone.' },
  oauth_init_failed: { status: 502, message: 'oauth_init_failed' },
  upstream_unavailable: {
    status: 503,
    message: 'The identity provider is not responding. The session is still valid. Try again later.',
    retryAfterS: 2,
  },
});
