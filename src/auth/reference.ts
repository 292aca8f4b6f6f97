/** The texts of the authentication service's API reference (docs/specification/auth.md, docs/accounts.md). */
import { accountProblems } from '#accounts/problems.ts';
import { defineReference } from '#platform/http/apireference.ts';
import { authProblems } from './problems.ts';

export const authReference = defineReference({
  description:
    'Signs users in with the identity provider, stores the session of the browser in a sealed cookie, and returns access tokens.',
  tags: {
    auth: 'Sign-in and sessions of browsers.',
    accounts: 'Plans, credits and sample data, for operators. Present only with the embedded database.',
  },
  problems: { ...authProblems.table, ...accountProblems.table },
  sessionCookie: 'ka_session',
  operations: {
    'GET /login': {
      id: 'loginUrl',
      description:
        'Navigate the browser to this URL. The response redirects to the identity provider, and the provider redirects to `/callback`.',
      problems: ['oauth_init_failed'],
      responses: { 302: ['A redirect to the identity provider.'] },
    },
    'GET /callback': {
      id: 'callbackUrl',
      description:
        'The identity provider redirects the browser to this URL. The response sets the session cookie and redirects to the `next` of the sign-in. After a failure, it redirects with `auth_error=1`.',
      responses: { 302: ['A redirect to the application.'] },
    },
    'POST /refresh': {
      id: 'refresh',
      description:
        'Returns a new access token and rotates the session cookie. Call it with credentials from a page of an allowed origin. After 503, the session is still valid.',
      problems: ['no_session', 'refresh_failed', 'forbidden_origin', 'upstream_unavailable'],
      readsSession: true,
    },
    'POST /logout': {
      id: 'logout',
      description:
        'Ends all sessions of the user and deletes the cookie. With `scope=local`, only this session ends. Without a session, the response is the same.',
      problems: ['forbidden_origin'],
      readsSession: true,
    },
    'PUT /v1/accounts/credits': {
      id: 'setCredits',
      description: 'Sets the plan and the credits of a user, who is named by id or email address.',
      problems: ['user_not_found', 'user_ambiguous'],
      example: { user: 'ada@example.com', plan: 'pro', credits: 500 },
    },
    'GET /v1/accounts/actions': {
      id: 'listOperatorActions',
      description: 'Returns the audit log of operators.',
    },
    'POST /v1/accounts/seed': {
      id: 'seedAccounts',
      description: 'Creates sample users and feeds. If you repeat the request, nothing is added.',
    },
  },
});
