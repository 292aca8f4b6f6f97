import { defineProblems } from '#platform/problem.ts';

/** docs/specification/auth.md. */
export const authProblems = defineProblems({
  no_session: { status: 401, message: 'There is no session.' },
  refresh_failed: { status: 401, message: 'The session is over.' },
  forbidden_origin: { status: 403, message: 'Pages of this origin may not call.' },
  oauth_init_failed: { status: 502, message: 'oauth_init_failed' },
  upstream_unavailable: {
    status: 503,
    message: 'The identity provider does not answer right now; the session goes on.',
    retryAfterS: 2,
  },
});
