/** The endpoints of people, for operators. The authentication service serves them. */

import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { auditOf, hashedTarget } from '#platform/audit/audit.ts';
import { actorOf, auditOperators } from '#platform/audit/http.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import {
  actionPage,
  actionSearch,
  creditsChange,
  erased,
  peopleListing,
  peoplePage,
  person,
  personDetails,
  personParams,
} from './api.ts';
import { erasePerson, type PersonErasureDeps } from './erasing.ts';
import { changeCredits, type PeopleDeps, readActions, readPeople, readPerson } from './people.ts';

export type PeopleRouteDeps = Omit<PeopleDeps, 'audit'> & PersonErasureDeps & { readonly log: Log };

const base = '/v1/people';
const onePerson = `${base}/:userId`;

export function addPeopleRoutes(app: HttpServer, access: Access, given: PeopleRouteDeps): void {
  const deps = { ...given, audit: auditOf(given.db) };
  auditOperators(app, {
    ...deps,
    isOperators: (url, method) => url.startsWith(onePerson) && method !== 'GET' && method !== 'HEAD',
    targetOf: ({ params }) => {
      const { data } = personParams.safeParse(params);
      return data === undefined ? undefined : hashedTarget(data.userId);
    },
  });
  const routes = routesOf(app, 'people');
  // Pages cannot call these: CORS admits their origins for sessions only.
  const guard = { ...access.internalOnly, config: { ...access.internalOnly.config, cors: false } } as const;

  routes.get(
    base,
    guard,
    { summary: 'Find users by id or email address', querystring: peopleListing, response: { 200: peoplePage } },
    async ({ query }) => readPeople(deps, query),
  );

  routes.get(
    onePerson,
    guard,
    { summary: 'Read a user', params: personParams, response: { 200: personDetails } },
    async ({ params }) => readPerson(deps, params.userId),
  );

  routes.post(
    `${onePerson}/credits`,
    guard,
    {
      summary: 'Change the credits or the plan of a user',
      params: personParams,
      body: creditsChange,
      response: { 200: person },
    },
    async ({ params, body, headers }) => changeCredits(deps, params.userId, actorOf(headers), body),
  );

  routes.post(
    `${onePerson}/exports`,
    guard,
    {
      summary: 'Record that an operator exports the data of a user',
      params: personParams,
      response: { 204: z.null() },
    },
    async (_request, reply) => reply.code(204).send(null),
  );

  routes.get(
    '/v1/actions',
    guard,
    {
      summary: 'Search the audit log of operators, newest first',
      querystring: actionSearch,
      response: { 200: actionPage },
    },
    async ({ query }) => readActions(deps, query),
  );

  routes.delete(
    `${onePerson}/sessions`,
    guard,
    { summary: 'End the sessions of a user', params: personParams, response: { 204: z.null() } },
    async ({ params }, reply) => {
      await deps.endSessions(params.userId);
      return reply.code(204).send(null);
    },
  );

  routes.delete(
    onePerson,
    guard,
    { summary: 'Erase a user from the shared records', params: personParams, response: { 200: erased } },
    async ({ params }) => erasePerson(deps, params.userId),
  );
}
