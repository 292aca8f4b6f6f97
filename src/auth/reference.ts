/** The texts of the authentication service's API reference (docs/specification/auth.md, docs/accounts.md). */
import { accountProblems } from '#accounts/problems.ts';
import { defineReference } from '#platform/http/apireference.ts';
import { authProblems } from './problems.ts';

export const authReference = defineReference({
  description:
    'Signs users in with the identity provider, stores the session of the browser in a sealed cookie, and returns access tokens.',
  tags: {
    auth: 'Sign-in and sessions of browsers.',
    people: 'Users and their data, for operators.',
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
    'GET /v1/people': {
      id: 'listPeople',
      description: 'Returns a page of users. Filter it by id or email address.',
    },
    'GET /v1/people/:userId': {
      id: 'readPerson',
      description: 'Returns the profile, the changes of credits, and the actions of operators on a user.',
      problems: ['not_found'],
    },
    'POST /v1/people/:userId/credits': {
      id: 'changeCredits',
      description:
        'Adds credits, removes credits or sets the plan. A repeated request with the same `changeId` changes nothing.',
      problems: ['not_found', 'credits_out_of_range'],
      example: { changeId: '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11', credits: 100, reason: 'A refund.' },
    },
    'POST /v1/people/:userId/exports': {
      id: 'recordExport',
      description: 'Records in the audit log that an operator exports the data of a user.',
    },
    'DELETE /v1/people/:userId/sessions': {
      id: 'endSessions',
      description: 'Ends all sessions of a user. Access tokens stay valid until they expire.',
    },
    'DELETE /v1/people/:userId': {
      id: 'erasePerson',
      description:
        'Erases a user from the shared records and at the identity provider. After 503, you can repeat the request.',
      problems: ['account_not_deleted'],
    },
    'GET /v1/actions': {
      id: 'listActions',
      description: 'Searches the audit log by user, operator and action, newest first.',
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
