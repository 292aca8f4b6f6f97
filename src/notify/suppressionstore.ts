/** The rows of suppressed addresses. */
import { sql } from 'kysely';
import type { z } from 'zod';
import { type Db, hasChanged, type Tx } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import type { SuppressionReach, suppressionListing, suppressionPage } from './api.ts';
import type { NotifyContext } from './context.ts';
import { addressOf, type Mail, recipientsOf } from './mail.ts';
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

/** Returns addresses after `after`, in order. */
function listSuppressions(db: Handle, after: string | undefined, limit: number) {
  return db
    .selectFrom('suppressed_addresses')
    .select(['address', 'reason', 'created_at as since'])
    .$if(after !== undefined, (query) => query.where('address', '>', after ?? ''))
    .orderBy('address')
    .limit(limit)
    .execute();
}

/** Returns addresses outside ASCII after `after`, in order. */
async function findOutsideAscii(db: Handle, after: string, limit: number): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('suppressed_addresses')
    .select('address')
    .where(sql<boolean>`octet_length(address) > char_length(address)`)
    .where('address', '>', after)
    .orderBy('address')
    .limit(limit)
    .execute();
  return rows.map(({ address }) => address);
}

/** If both addresses are suppressed, keeps the earlier row. Does nothing if another process was first. */
async function renameSuppression(db: Handle, from: string, to: string): Promise<void> {
  await sql`
    with renamed as (delete from suppressed_addresses where address = ${from} returning reason, blocks, created_at)
    insert into suppressed_addresses (address, reason, blocks, created_at) select ${to}, reason, blocks, created_at from renamed
    on conflict (address) do update set reason = excluded.reason, blocks = excluded.blocks, created_at = excluded.created_at
    where excluded.created_at < suppressed_addresses.created_at`.execute(db);
}

/** Whether the address was suppressed. */
async function liftSuppression(db: Handle, address: string): Promise<boolean> {
  return db.deleteFrom('suppressed_addresses').where('address', '=', address).$call(hasChanged);
}

// Suppressed addresses, to which no mail is sent because their server reported a missing mailbox. Operators list and remove them.

/** The cursor is the last address of the previous page. */
export async function listPage(
  { db }: NotifyContext,
  { cursor, limit }: z.output<typeof suppressionListing>,
): Promise<z.output<typeof suppressionPage>> {
  // One more row than requested shows whether another page exists.
  const rows = await listSuppressions(db, cursor, limit + 1);
  const page = rows.slice(0, limit);
  return {
    suppressions: page.map(({ address, reason, since }) => ({ address, reason, since: since.toISOString() })),
    next_cursor: rows.length > limit ? (page.at(-1)?.address ?? null) : null,
  };
}

const renamedAtOnce = 500;

/** Version 1.0.0 stored domains as they were spelled, so the rows did not match other spellings. */
export async function normalizeSuppressions({ db }: NotifyContext): Promise<void> {
  let addresses: readonly string[];
  let after = '';
  do {
    addresses = await findOutsideAscii(db, after, renamedAtOnce);
    for (const address of addresses) {
      const normalized = addressOf(address) ?? address;
      if (normalized !== address) await renameSuppression(db, address, normalized);
    }
    after = addresses.at(-1) ?? '';
  } while (addresses.length === renamedAtOnce);
}

/** Throws 404 if the address is not suppressed. */
export async function lift({ db }: NotifyContext, address: string): Promise<void> {
  if (!(await liftSuppression(db, address)))
    throw problems.not_found({ message: `This address is not suppressed: ${address}.` });
}
