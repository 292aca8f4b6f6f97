/** The mails of a person, for operators: they are listed and erased. */

import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { auditOperators, userTarget } from '#platform/audit/http.ts';
import { transaction } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { isStorableText } from '#platform/storable.ts';
import { pageSize } from '#platform/wholenumber.ts';
import type { NotifyContext } from '../context.ts';
import { statusOf } from '../emails.ts';
import { listEventsOf } from '../eventstore.ts';
import { addressOf } from '../mail.ts';
import { listSends } from '../sendstore.ts';
import { deleteMailsOf, findSuppression } from './peoplestore.ts';

// The requests and responses about the mails of a person, for operators (docs/specification/notify.md#people).

/** The identity provider may accept addresses to which no mail can be sent. */
const address = z
  .string()
  .min(1)
  .max(320)
  .refine(isStorableText, 'must not contain NUL or lone surrogates')
  .transform((text) => addressOf(text) ?? text.toLowerCase())
  .meta({ type: 'string', format: 'email' });

export const mailsOfPersonQuery = z.object({
  address,
  limit: pageSize(100, 20),
});

export const mailsOfPerson = z.object({
  mails: z
    .array(
      z.object({
        id: z.string(),
        subject: z.string(),
        status: z.string(),
        inOutbox: z.boolean().describe('It was stored in the outbox, and not sent.'),
        isDelayed: z.boolean().describe('An attempt failed, and another one follows.'),
        createdAt: z.iso.datetime(),
      }),
    )
    .describe('Newest first.'),
  suppression: z.object({ reason: z.string(), since: z.iso.datetime() }).nullable(),
});
type MailsOfPerson = z.output<typeof mailsOfPerson>;

export const mailsErasure = z.strictObject({ userId: z.guid().toLowerCase(), address: address.nullish() });
type Erasure = z.output<typeof mailsErasure>;

export const erasedMails = z.object({
  removed: z.record(z.string(), z.int()).describe('The number of removed records of each kind.'),
});
type Erased = z.output<typeof erasedMails>;

const userId = '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21';

export function addPeopleRoutes(app: HttpServer, access: Access, deps: NotifyContext): void {
  auditOperators(app, {
    ...deps,
    isOperators: (url) => url === '/people/erasure',
    targetOf: ({ body }) => userTarget(mailsErasure, body),
  });
  const routes = routesOf(app, 'people');

  routes.get('/people/mails', access.internalOnly, {
    id: 'listMailsOfPerson',
    summary: 'List the newest emails to an address',
    description: 'Returns the newest emails to an address, and whether the address is suppressed.',
    querystring: mailsOfPersonQuery,
    response: { 200: mailsOfPerson },
    handler: async ({ query }) => readMails(deps, query.address, query.limit),
  });

  routes.post('/people/erasure', access.internalOnly, {
    id: 'eraseMails',
    summary: 'Erase the emails of a person',
    description: 'Erases the emails of a user and of an address. You can repeat the request.',
    example: { userId, address: 'ada@example.com' },
    client: { repeatable: true },
    body: mailsErasure,
    response: { 200: erasedMails },
    handler: async ({ body }) => eraseMails(deps, body),
  });
}

async function readMails({ db }: NotifyContext, address: string, limit: number): Promise<MailsOfPerson> {
  const [mails, suppression] = await Promise.all([listSends(db, { address }, limit), findSuppression(db, address)]);
  const eventsOf = await listEventsOf(db, mails);
  return {
    mails: mails.map(({ id, subject, status, inOutbox, isDelayed = false, createdAt }) => ({
      ...{ id, inOutbox, isDelayed },
      status: statusOf(status, eventsOf.get(id) ?? []),
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
