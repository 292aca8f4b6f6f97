/** The mails of a person. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import { mentions } from '#platform/jobs/forgetting.ts';
import type { NotifyTables } from '../tables.ts';

export function findSuppression(db: Db<NotifyTables>, address: string) {
  return db
    .selectFrom('suppressed_addresses')
    .select(['reason', 'created_at as since'])
    .where('address', '=', address)
    .executeTakeFirst();
}

/**
 * Deletes the mails to the address, and those whose key, tags or content name the user; their events, and those whose reason names the
 * address; and the suppression of the address. Returns how many rows of each. `address`: in lower case.
 */
export async function deleteMailsOf(
  tx: Tx<NotifyTables>,
  userId: string,
  address: string | undefined,
): Promise<{ readonly mails: number; readonly events: number; readonly suppressions: number }> {
  const { rows } = await sql<{ id: string; providerId: string | null }>`
    delete from notify_sends
    where ${address === undefined ? sql`false` : sql`addresses @> array[${address}]::text[]`}
      or strpos(coalesce(idempotency_key, ''), ${userId}) > 0
      or strpos(coalesce(tags::text, ''), ${userId}) > 0 or strpos(coalesce(mail::text, ''), ${userId}) > 0
    returning id, provider_id as "providerId"`.execute(tx);
  const providerIds = rows.flatMap(({ providerId }) => providerId ?? []);
  const { numDeletedRows: events } = await tx
    .deleteFrom('notify_events')
    .where(
      sql<boolean>`send_id = any(${rows.map(({ id }) => id)}::uuid[]) or provider_id = any(${providerIds}::text[])
        or ${mentions([sql`reason`], address === undefined ? [] : [address])}`,
    )
    .executeTakeFirstOrThrow();
  const { numDeletedRows: suppressions } = await tx
    .deleteFrom('suppressed_addresses')
    .where('address', '=', address ?? '')
    .executeTakeFirstOrThrow();
  return { mails: rows.length, events: Number(events), suppressions: Number(suppressions) };
}
