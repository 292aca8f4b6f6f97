/** One's own account, and its erasure by servers (docs/specification/auth.md#account). */
import { z } from 'zod';
import { erasureReport, personParams } from '#accounts/people/api.ts';
import type { Access } from '#platform/access/access.ts';
import type { Caller } from '#platform/access/caller.ts';
import { operatorHeader } from '#platform/audit/audit.ts';
import { actorOf } from '#platform/audit/http.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { type DeletionDeps, eraseNow, restoreAccount, scheduleDeletion } from './deleting.ts';

export const scheduledDeletion = z.object({ deletesAt: z.iso.datetime().describe('When the account is deleted.') });
export const erasureOrder = z.strictObject({
  mail: z.boolean().default(true).describe('Whether the person gets `account_deletion.deleted`.'),
});

function userIdOf(caller: Caller): string {
  if (caller.kind !== 'user') throw new Error('the guard admits only users');
  return caller.userId;
}

export function addAccountDeletionRoutes(app: HttpServer, access: Access, deps: DeletionDeps): void {
  const routes = routesOf(app, 'auth');

  routes.delete(
    '/account',
    access.userOnly,
    {
      id: 'deleteAccount',
      summary: 'Delete your own account',
      description:
        'Schedules the deletion of the account after `ACCOUNT_DELETION_DAYS`, sends an email and ends all sessions. A repeated request keeps the date.',
      problems: ['not_found'],
      client: { answer: 'ScheduledDeletion' },
      response: { 202: scheduledDeletion },
    },
    async ({ caller }, reply) => reply.code(202).send(await scheduleDeletion(deps, userIdOf(caller))),
  );

  routes.post(
    '/account/restore',
    access.userOnly,
    {
      id: 'restoreAccount',
      summary: 'Keep your own account',
      description: 'Takes the scheduled deletion of the account back. Without one, nothing changes.',
      problems: ['deletion_begun'],
      client: { repeatable: true },
      response: { 204: z.null() },
    },
    async ({ caller }, reply) => {
      await restoreAccount(deps, userIdOf(caller));
      return reply.code(204).send(null);
    },
  );

  routes.post(
    '/people/:userId/erasure',
    { ...access.internalOnly, config: { ...access.internalOnly.config, cors: false } },
    {
      id: 'eraseEverywhere',
      summary: 'Erase a user from all services',
      description:
        'Erases a user from all services at once. The response names each service. If one failed, the erasure continues in the background, and you can repeat the request.',
      example: { mail: true },
      client: { body: 'ErasureOrder', answer: 'ErasureReport', repeatable: true },
      params: personParams,
      body: erasureOrder,
      response: { 200: erasureReport },
    },
    async ({ params, body, headers }) =>
      eraseNow(deps, params.userId, { mails: body.mail, headers: { [operatorHeader]: actorOf(headers) } }),
  );
}
