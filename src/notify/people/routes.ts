/** The mails of a person, for operators: they are listed and erased. */

import type { Access } from '#platform/access/access.ts';
import { hashedTarget } from '#platform/audit/audit.ts';
import { auditOperators } from '#platform/audit/http.ts';
import { transaction } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { NotifyContext } from '../context.ts';
import { type Erased, type Erasure, erased, erasure, type MailsOfPerson, mailsOfPerson, mailsQuery } from './api.ts';
import { deleteMailsOf, findSuppression, listMailsTo } from './peoplestore.ts';

const userId = '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21';

export function addPeopleRoutes(app: HttpServer, access: Access, deps: NotifyContext): void {
  auditOperators(app, {
    ...deps,
    isOperators: (url) => url === '/people/erasure',
    targetOf: ({ body }) => {
      const { data } = erasure.safeParse(body);
      return data === undefined ? undefined : hashedTarget(data.userId);
    },
  });
  const routes = routesOf(app, 'people');

  routes.get(
    '/people/mails',
    access.internalOnly,
    {
      id: 'listMailsOfPerson',
      summary: 'List the newest emails to an address',
      description: 'Returns the newest emails to an address, and whether the address is suppressed.',
      client: { query: 'MailsOfPersonQuery', answer: 'MailsOfPerson' },
      querystring: mailsQuery,
      response: { 200: mailsOfPerson },
    },
    async ({ query }) => readMails(deps, query.address, query.limit),
  );

  routes.post(
    '/people/erasure',
    access.internalOnly,
    {
      id: 'eraseMails',
      summary: 'Erase the emails of a person',
      description: 'Erases the emails of a user and of an address. You can repeat the request.',
      example: { userId, address: 'ada@example.com' },
      client: { body: 'MailsErasure', answer: 'ErasedMails', repeatable: true },
      body: erasure,
      response: { 200: erased },
    },
    async ({ body }) => eraseMails(deps, body),
  );
}

async function readMails({ db }: NotifyContext, address: string, limit: number): Promise<MailsOfPerson> {
  const [mails, suppression] = await Promise.all([listMailsTo(db, address, limit), findSuppression(db, address)]);
  return {
    mails: mails.map(({ subject, createdAt, ...mail }) => ({
      ...mail,
      subject: subject ?? '',
      createdAt: createdAt.toISOString(),
    })),
    suppression:
      suppression === undefined ? null : { reason: suppression.reason, since: suppression.since.toISOString() },
  };
}

/** Rows first: a mail that is being sent then ends without its row, and its file is removed by a repeated call. */
async function eraseMails({ db, channel }: NotifyContext, { userId, address }: Erasure): Promise<Erased> {
  const removed = await transaction(db, (tx) => deleteMailsOf(tx, userId, address ?? undefined));
  const files = address ? ((await channel.forget?.(address)) ?? 0) : 0;
  return { removed: { ...removed, files } };
}
