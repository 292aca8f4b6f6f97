/** The endpoints of people, for operators. The authentication service serves them. */

import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { actorOf, auditOperators, userTarget } from '#platform/audit/http.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import * as api from './api.ts';
import * as people from './people.ts';

export function addPeopleRoutes(app: HttpServer, access: Access, deps: people.PeopleContext): void {
  auditOperators(app, {
    ...deps,
    isOperators: (url, method) =>
      (url.startsWith('/v1/people/:userId') || url === '/people/:userId/erasure') &&
      method !== 'GET' &&
      method !== 'HEAD',
    targetOf: ({ params }) => userTarget(api.personParams, params),
  });
  const routes = routesOf(app, 'people');
  const guard = access.internalWithoutCors;

  routes.get('/v1/people', guard, {
    id: 'listPeople',
    summary: 'Find users by id or email address',
    description: 'Returns a page of users. Filter it by id or email address.',
    querystring: api.peopleListing,
    response: { 200: api.peoplePage },
    handler: async ({ query }) => people.readPeople(deps, query),
  });

  routes.get('/v1/people/names', guard, {
    id: 'readNames',
    summary: 'Read the email addresses of users',
    description: 'Returns the email addresses of up to 200 users, for pages that list their ids.',
    querystring: api.namesQuery,
    response: { 200: api.names },
    handler: async ({ query }) => people.readNames(deps, query.ids),
  });

  routes.get('/v1/people/:userId', guard, {
    id: 'readPerson',
    summary: 'Read a user',
    description: 'Returns the profile, the changes of credits, and the actions of operators on a user.',
    problems: ['not_found'],
    params: api.personParams,
    response: { 200: api.personDetails },
    handler: async ({ params: { userId } }) => ({
      ...(await people.readPerson(deps, userId)),
      sessions: await deps.listSessions(userId),
    }),
  });

  routes.post('/v1/people/:userId/credits', guard, {
    id: 'changeCredits',
    summary: 'Change the credits or the plan of a user',
    description:
      'Adds credits, removes credits or sets the plan. A repeated request with the same `changeId` changes nothing.',
    problems: ['not_found', 'credits_out_of_range'],
    example: { changeId: '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11', credits: 100, reason: 'A refund.' },
    client: { repeatable: true },
    params: api.personParams,
    body: api.creditsChange,
    response: { 200: api.person },
    handler: async ({ params, body, headers }) => people.changeCredits(deps, params.userId, actorOf(headers), body),
  });

  routes.post('/v1/people/:userId/block', guard, {
    id: 'blockPerson',
    summary: 'Block the account of a user',
    description:
      'Ends all sessions and stops the runs in progress. The user can no longer sign in, refresh a session, or start runs and orders. Files, conversations and public links stay. A repeated request changes nothing.',
    problems: ['not_found', 'own_account'],
    example: { reason: 'Spam in public links.' },
    client: { repeatable: true },
    params: api.personParams,
    body: api.blockOrder,
    response: { 200: api.person },
    handler: async ({ params, body, headers }) =>
      people.blockPerson(deps, params.userId, actorOf(headers), body.reason),
  });

  routes.delete('/v1/people/:userId/block', guard, {
    id: 'unblockPerson',
    summary: 'Unblock the account of a user',
    description: 'The user can sign in again. A repeated request changes nothing.',
    problems: ['not_found'],
    client: { repeatable: true },
    params: api.personParams,
    response: { 200: api.person },
    handler: async ({ params }) => people.unblockPerson(deps, params.userId),
  });

  routes.post('/v1/people/:userId/exports', guard, {
    id: 'recordExport',
    summary: 'Record that an operator exports the data of a user',
    description: 'Records in the audit log that an operator exports the data of a user.',
    params: api.personParams,
    response: { 204: z.null() },
    handler: async () => undefined,
  });

  routes.get('/v1/actions', guard, {
    id: 'listActions',
    summary: 'Search the audit log of operators, newest first',
    description: 'Searches the audit log by user, operator and action, newest first.',
    querystring: api.actionSearch,
    response: { 200: api.actionPage },
    handler: async ({ query }) => people.readActions(deps, query),
  });

  routes.delete('/v1/people/:userId/sessions', guard, {
    id: 'endSessions',
    summary: 'End the sessions of a user',
    description: 'Ends all sessions of a user. Access tokens stay valid until they expire.',
    params: api.personParams,
    response: { 204: z.null() },
    handler: async ({ params }) => deps.endSessions(params.userId),
  });
}
