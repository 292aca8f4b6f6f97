/** Suppressed addresses, to which no mail is sent. Operators list and remove them. */
import { sql } from 'kysely';
import type { z } from 'zod';
import { type Db, hasChanged, type Tx } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import type { SuppressionReach, suppressionListing, suppressionPage } from './api.ts';
import type { NotifyContext } from './context.ts';
import { type Mail, recipientsOf } from './mail.ts';
import type { NotifyTables } from './tables.ts';

type Handle = Db<NotifyTables> | Tx<NotifyTables>;

/** Returns those of the mail's recipients to which it must not be sent. */
export async function findSuppressed(db: Handle, mail: Mail): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('suppressed_addresses')
    .select('address')
    .where(sql<boolean>`address = any(${[...new Set(recipientsOf(mail))]}::text[])`)
    .where('blocks', 'in', blocking(mail))
    .execute();
  return rows.map(({ address }) => address);
}

/** The suppressions that apply to a mail. */
export function blocking({ audience }: Mail): readonly SuppressionReach[] {
  return audience === 'account' ? ['all'] : ['all', 'product'];
}

interface Suppression {
  readonly address: string;
  readonly reason: string;
  readonly blocks: SuppressionReach;
}

/** A missing mailbox replaces a complaint, because it blocks more. */
export async function suppress(db: Handle, suppressions: readonly Suppression[]): Promise<void> {
  if (suppressions.length === 0) return;
  await db
    .insertInto('suppressed_addresses')
    .values([...suppressions])
    .onConflict((conflict) =>
      conflict
        .column('address')
        .doUpdateSet((eb) => ({ reason: eb.ref('excluded.reason'), blocks: eb.ref('excluded.blocks') }))
        .where('suppressed_addresses.blocks', '=', 'product')
        .where('excluded.blocks', '=', 'all'),
    )
    .execute();
}

/** The cursor is the last address of the previous page. */
export async function listPage(
  { db }: NotifyContext,
  { cursor = '', limit }: z.output<typeof suppressionListing>,
): Promise<z.output<typeof suppressionPage>> {
  const rows = await db
    .selectFrom('suppressed_addresses')
    .select(['address', 'reason', 'created_at as since'])
    .where('address', '>', cursor)
    .orderBy('address')
    // One more row than requested shows whether another page exists.
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  return {
    suppressions: page.map(({ address, reason, since }) => ({ address, reason, since: since.toISOString() })),
    next_cursor: rows.length > limit ? (page.at(-1)?.address ?? null) : null,
  };
}

/** Throws 404 if the address is not suppressed. */
export async function lift({ db }: NotifyContext, address: string): Promise<void> {
  const wasSuppressed = await db.deleteFrom('suppressed_addresses').where('address', '=', address).$call(hasChanged);
  if (!wasSuppressed) throw problems.not_found({ message: `This address is not suppressed: ${address}.` });
}
