/** One's own account, and its erasure by servers (docs/specification/auth.md#account). */

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { erasureReport, personParams } from '#accounts/people/api.ts';
import type { Access } from '#platform/access/access.ts';
import type { Caller } from '#platform/access/caller.ts';
import { operatorHeader } from '#platform/audit/audit.ts';
import { actorOf } from '#platform/audit/http.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import { sessionIdOf } from '../browsersessions.ts';
import { endOtherSessions, endSession, listSessions } from '../store.ts';
import type { AccountContext } from './context.ts';
import { eraseNow, readDeletion, restoreAccount, scheduleDeletion } from './deleting.ts';
import { findOwnExport, orderExport, readArchive } from './exporting.ts';
import type { AccountExport } from './store.ts';

export const scheduledDeletion = z.object({ deletesAt: z.iso.datetime().describe('When the account is deleted.') });
export const accountExport = z.object({
  status: z.enum(['preparing', 'ready']),
  url: z
    .string()
    .describe('Answers the ZIP archive when it is ready, to its user. Until then, it answers as this call.'),
  requestedAt: z.iso.datetime(),
  readyAt: z.iso.datetime().nullable(),
  expiresAt: z.iso.datetime().nullable().describe('When the archive is removed. `null`: it is being prepared.'),
});
export const ownAccount = z.object({
  deletesAt: z.iso.datetime().nullable().describe('When the account is deleted. `null`: no deletion is scheduled.'),
  export: accountExport.nullable().describe('`null`: there is none.'),
});
export const erasureOrder = z.strictObject({
  mail: z.boolean().default(true).describe('Whether the person gets `account_deletion.deleted`.'),
});

const ownSession = z.object({
  id: z.guid(),
  browser: z.string().describe('Such as `Firefox on Windows`.'),
  createdAt: z.iso.datetime().describe('When the user signed in, or when the session was first seen.'),
  usedAt: z.iso.datetime().describe('When the browser got its last access token.'),
  isCurrent: z.boolean().describe('Whether the access token of the request is of this session.'),
});
export const ownSessions = z.object({
  sessions: z.array(ownSession).describe('The last used first; at most 100.'),
});
const sessionParams = z.object({ id: z.guid().toLowerCase() });
const mostSessions = 100;

/** The guard has verified the token. */
const tokenOf = ({ headers }: FastifyRequest): string => headers.authorization?.replace(/^bearer /i, '') ?? '';

function userIdOf(caller: Caller): string {
  if (caller.kind !== 'user') throw new Error('the guard admits only users');
  return caller.userId;
}

/** Seconds. */
const askAgainAfterS = 2;

export function addOwnAccountRoutes(app: HttpServer, access: Access, deps: AccountContext): void {
  const routes = routesOf(app, 'auth');
  // The response to HEAD would read everything too.
  const unread = { ...access.userOnly, exposeHeadRoute: false };
  const show = ({ requestedAt, readyAt, expiresAt }: AccountExport): z.output<typeof accountExport> => ({
    status: readyAt === null ? 'preparing' : 'ready',
    url: `${deps.publicUrl}/account/export/zip`,
    requestedAt: requestedAt.toISOString(),
    readyAt: readyAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
  });

  routes.get('/account', access.userOnly, {
    id: 'readAccount',
    summary: 'Read the state of your own account',
    description: 'Returns when the account is deleted, and the state of its export.',
    response: { 200: ownAccount },
    handler: async ({ caller }) => {
      const userId = userIdOf(caller);
      const [deletesAt, found] = await Promise.all([readDeletion(deps, userId), findOwnExport(deps, userId)]);
      return { deletesAt: deletesAt?.toISOString() ?? null, export: found === undefined ? null : show(found) };
    },
  });

  routes.get('/account/export', unread, {
    id: 'exportAccount',
    summary: 'Order a copy of your own data',
    description:
      'Prepares an archive of everything that the services store about the user, and sends an email when it is ready. A repeated request within 24 hours returns the same export.',
    problems: ['not_found'],
    response: { 202: accountExport },
    handler: async ({ caller }, reply) => reply.code(202).send(show(await orderExport(deps, userIdOf(caller)))),
  });

  routes.get('/account/export/zip', unread, {
    id: 'downloadExport',
    summary: 'Download the copy of your own data',
    description:
      'Returns a ZIP archive: a JSON file for each service, and the originals of the assets. Returns 202 while it is being prepared.',
    problems: ['not_found'],
    client: { kind: 'file' },
    otherResponses: {
      200: ['The archive.', 'application/zip'],
      202: ['The archive is being prepared. The body is the same as for `GET /account/export`.'],
    },
    handler: async ({ caller }, reply) => {
      const found = await findOwnExport(deps, userIdOf(caller));
      if (found === undefined) throw problems.not_found({ message: 'There is no export. Order one first.' });
      if (found.readyAt === null) return reply.code(202).header('retry-after', askAgainAfterS).send(show(found));
      const day = found.readyAt.toISOString().slice(0, 10);
      return reply
        .type('application/zip')
        .header('content-disposition', `attachment; filename="export-${day}.zip"`)
        .header('cache-control', 'private, no-store')
        .send(readArchive(deps, found));
    },
  });

  routes.delete('/account', access.userOnly, {
    id: 'deleteAccount',
    summary: 'Delete your own account',
    description:
      'Schedules the deletion of the account after `ACCOUNT_DELETION_DAYS`, sends an email and ends all sessions. A repeated request keeps the date.',
    problems: ['not_found'],
    response: { 202: scheduledDeletion },
    handler: async ({ caller }, reply) => reply.code(202).send(await scheduleDeletion(deps, userIdOf(caller))),
  });

  routes.post('/account/restore', access.userOnly, {
    id: 'restoreAccount',
    summary: 'Keep your own account',
    description: 'Takes the scheduled deletion of the account back. Without one, nothing changes.',
    problems: ['deletion_begun'],
    client: { repeatable: true },
    response: { 204: z.null() },
    handler: async ({ caller }) => restoreAccount(deps, userIdOf(caller)),
  });

  routes.get('/account/sessions', access.userOnly, {
    id: 'listSessions',
    summary: 'List your own sessions',
    description: 'Returns the sessions of the browsers in which the user is signed in.',
    response: { 200: ownSessions },
    handler: async (request) => {
      const current = sessionIdOf(tokenOf(request));
      const rows = await listSessions(deps.db, userIdOf(request.caller), mostSessions);
      const sessions = rows.map(({ id, browser, createdAt, usedAt }) => ({
        id,
        browser,
        createdAt: createdAt.toISOString(),
        usedAt: usedAt.toISOString(),
        isCurrent: id === current,
      }));
      return { sessions };
    },
  });

  routes.delete('/account/sessions', access.userOnly, {
    id: 'endOtherSessions',
    summary: 'End your other sessions',
    description:
      'Ends all sessions of the user except the one of the access token. Their access tokens stay valid until they expire.',
    problems: ['upstream_unavailable'],
    client: { repeatable: true },
    response: { 204: z.null() },
    handler: async (request) => {
      const token = tokenOf(request);
      const current = sessionIdOf(token);
      if (current !== undefined) await endOtherSessions(deps.db, userIdOf(request.caller), current);
      await deps.revokeOthers(token);
    },
  });

  routes.delete('/account/sessions/:id', access.userOnly, {
    id: 'endSession',
    summary: 'End one of your own sessions',
    description: 'The browser of the session gets no further access token. Its last one stays valid until it expires.',
    problems: ['not_found'],
    client: { repeatable: true },
    params: sessionParams,
    response: { 204: z.null() },
    handler: async ({ caller, params }) => {
      const isFound = await endSession(deps.db, userIdOf(caller), params.id);
      if (!isFound) throw problems.not_found({ message: 'You have no session with this id.' });
    },
  });

  routes.post('/people/:userId/erasure', access.internalWithoutCors, {
    id: 'eraseEverywhere',
    summary: 'Erase a user from all services',
    description:
      'Erases a user from all services at once. The response names each service. If one failed, the erasure continues in the background, and you can repeat the request.',
    example: { mail: true },
    client: { repeatable: true },
    params: personParams,
    body: erasureOrder,
    response: { 200: erasureReport },
    handler: async ({ params, body, headers }) =>
      eraseNow(deps, params.userId, { mails: body.mail, headers: { [operatorHeader]: actorOf(headers) } }),
  });
}
