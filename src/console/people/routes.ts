/** The People page: finding users, and what operators do for them. */

import { Readable } from 'node:stream';
import { z } from 'zod';
import { blockOrder, creditsChange, type PersonDetails, peopleListing } from '#accounts/people/api.ts';
import { listed, listsOf, mailsOf, memoriesOf } from '#accounts/people/exporting.ts';
import type { GenerationRecordPage, RunPage } from '#agent/records/api.ts';
import { bodyOf } from '#platform/http/client.ts';
import type { Routes } from '#platform/http/routes.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { addForwards, callOf, forward, partOf, readFrom, type ServiceClients } from '../services.ts';

const personPath = z.object({ userId: z.guid().toLowerCase() });
const namesQuery = z.object({ ids: z.string().max(8000) });
const erasureRequest = z.strictObject({ confirm: z.literal(true) });

/** The services erase one after another, 30 s each at most. */
const erasureTimeoutMs = 100_000;

export function addPeopleRoutes(routes: Routes, guard: OperatorGuard, clients: ServiceClients): void {
  const { auth } = clients;

  routes.get('/api/people/:userId', guard, {
    summary: 'A user, from all services',
    params: personPath,
    handler: async ({ params }) => readPerson(clients, params.userId),
  });

  const listing = peopleListing.extend({ ids: namesQuery.shape.ids.optional() });
  const credits = { params: personPath, body: creditsChange };
  const block = { params: personPath, body: blockOrder };
  addForwards(routes, guard, auth, [
    ['get', '/api/people', '/v1/people', 'Users, found by id or address', { querystring: listing }],
    ['get', '/api/people/names', '/v1/people/names', 'The email addresses of users', { querystring: namesQuery }],
    ['post', '/api/people/:userId/credits', '/v1/people/:userId/credits', 'Change the plan or the credits', credits],
    ['post', '/api/people/:userId/block', '/v1/people/:userId/block', 'Block the account', block],
    ['delete', '/api/people/:userId/block', '/v1/people/:userId/block', 'Unblock the account', { params: personPath }],
    [
      'delete',
      '/api/people/:userId/sessions',
      '/v1/people/:userId/sessions',
      'End all sessions',
      { params: personPath },
    ],
  ]);

  routes.post('/api/people/:userId/export', guard, {
    summary: 'Everything about a user, as JSON',
    params: personPath,
    handler: async (request, reply) => {
      const { userId } = request.params;
      const call = { ...callOf(request), idempotent: true };
      bodyOf(await auth.send({ method: 'POST', route: '/v1/people/:userId/exports', ...call }));
      // Throws 404 before the first byte for an id without a profile.
      const pieces = write(clients, userId, await readRecord(clients, userId));
      return reply
        .header('content-disposition', `attachment; filename="${userId}.json"`)
        .type('application/json; charset=utf-8')
        .send(Readable.from(pieces));
    },
  });

  routes.post('/api/people/:userId/erasure', guard, {
    summary: 'Erase a user from all services',
    params: personPath,
    body: erasureRequest,
    handler: forward(auth, 'POST', '/people/:userId/erasure', { json: { mail: false }, timeoutMs: erasureTimeoutMs }),
  });
}

// Everything that the services store about a person, as one JSON document. It is written while it is read. A service that
// fails in between ends the response early: the JSON is then incomplete, and no browser saves it as a whole file.

async function* write(clients: ServiceClients, userId: string, record: PersonDetails): AsyncGenerator<string> {
  const { email, createdAt } = record.person;
  yield `{"exportedAt":${JSON.stringify(new Date().toISOString())},"record":${JSON.stringify(record)}`;
  for (const [name, items] of Object.entries(listsOf(clients, userId, Date.parse(createdAt)))) {
    yield `,"${name}":`;
    yield* listed(items);
  }
  yield `,"memory":${JSON.stringify(await memoriesOf(clients, userId))}`;
  yield `,"mails":${JSON.stringify(await mailsOf(clients, email))}}\n`;
}

// One person, as the services know them. A service that does not respond leaves the other parts.

const shown = { threads: 20, assets: 12, incidents: 20, mails: 20, memories: 5, failures: 100 };

/** Throws 404 for an id without a profile. */
const readRecord = ({ auth }: ServiceClients, userId: string) =>
  readFrom<PersonDetails>(auth, '/v1/people/:userId', {}, { userId });

async function readPerson(clients: ServiceClients, userId: string): Promise<object> {
  const record = await readRecord(clients, userId);
  const { agent, media, memory, notify } = clients;
  const { email: address } = record.person;
  const failed = { userId, status: 'failed', limit: shown.failures };
  const countOrders = async (status: string) =>
    (await readFrom<GenerationRecordPage>(agent, '/generations/all', { ...failed, status })).generations.length;
  const countFailures = async () => ({
    runs: (await readFrom<RunPage>(agent, '/runs', failed)).runs.length,
    orders: await countOrders('failed'),
    refused: await countOrders('refused'),
  });
  const ofUser = { entity_type: 'user', entity_id: userId };
  const parts: Readonly<Record<string, Promise<unknown>>> = {
    conversations: readFrom(agent, '/people/:userId', {}, { userId }),
    threads: readFrom(agent, '/threads', { userId, limit: shown.threads }),
    usage: readFrom(agent, '/usage/users/:userId', {}, { userId }),
    failures: countFailures(),
    storage: readFrom(media, '/v1/usage', { ownerId: userId }),
    months: readFrom(media, '/v1/assets/months', { ownerId: userId }),
    assets: readFrom(media, '/v1/assets', { ownerId: userId, limit: shown.assets, thumbnails: false }),
    incidents: readFrom(media, '/v1/incidents', { ownerId: userId, limit: shown.incidents }),
    memories: readFrom(memory, '/memories', { ...ofUser, limit: shown.memories }),
    ...(address !== null && { mails: readFrom(notify, '/people/mails', { address, limit: shown.mails }) }),
  };
  const read = Object.entries(parts).map(async ([name, part]) => [name, await partOf(part)] as const);
  return { record, mails: null, ...Object.fromEntries(await Promise.all(read)) };
}
