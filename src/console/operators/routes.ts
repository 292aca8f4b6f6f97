/** Sessions of operators: with CONSOLE_TOKEN, or with a sign-in at the identity provider. */

import { accountProblems } from '#accounts/problems.ts';
import { type Routes, unguarded } from '#platform/http/routes.ts';
import { identitySignIn, signIn } from '../api.ts';
import type { ConsoleContext } from '../context.ts';
import { consoleProblems } from '../problems.ts';
import { isRefused } from './guard.ts';
import { identifyOperator } from './roles.ts';

export function addSessionRoutes(routes: Routes, { sessions, identity, db }: ConsoleContext): void {
  routes.post('/api/session', unguarded, {
    summary: 'Exchange CONSOLE_TOKEN for a session',
    body: signIn,
    handler: async (request, reply) => reply.header('set-cookie', sessions.begin(request.body.token)).code(204).send(),
  });

  routes.post('/api/session/identity', unguarded, {
    summary: 'Exchange the access token of an operator for a session',
    body: identitySignIn,
    handler: async (request, reply) => {
      if (identity === undefined) throw consoleProblems.not_an_operator();
      const operator = await identifyOperator(identity.tokens, identity.roles, request.body.accessToken);
      if (await isRefused(db, operator)) throw accountProblems.account_blocked();
      return reply.header('set-cookie', sessions.beginAs(operator)).code(204).send();
    },
  });

  routes.delete('/api/session', unguarded, {
    summary: 'End the session',
    handler: async (_request, reply) => reply.header('set-cookie', sessions.ending).code(204).send(),
  });
}
