/** The list of accepted mails, for operators. */
import type { z } from 'zod';
import type { Db } from '#platform/db/db.ts';
import type { emailList, emailListing } from './emailapi.ts';
import { statusOf } from './emails.ts';
import { listEventsOf } from './eventstore.ts';
import { listSends } from './sendstore.ts';
import type { NotifyTables } from './tables.ts';

/** The cursor is the id of the last mail of the previous page. */
export async function listEmails(
  { db }: { readonly db: Db<NotifyTables> },
  { after, limit }: z.output<typeof emailListing>,
): Promise<z.output<typeof emailList>> {
  // One more row than requested shows whether another page exists.
  const rows = await listSends(db, after, limit + 1);
  const page = rows.slice(0, limit);
  const eventsOf = await listEventsOf(db, page);
  return {
    object: 'list',
    has_more: rows.length > limit,
    data: page.map(({ id, status, subject, recipients, createdAt, scheduledAt, failure }) => ({
      id,
      to: [...(recipients ?? [])],
      subject: subject ?? '',
      status: statusOf(status, eventsOf.get(id) ?? []),
      created_at: createdAt.toISOString(),
      scheduled_at: scheduledAt?.toISOString() ?? null,
      reason: status === 'sent' ? null : failure,
    })),
  };
}
