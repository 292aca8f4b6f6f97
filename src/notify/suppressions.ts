/**
 * Suppressed addresses, to which no mail is sent because their server reported a missing mailbox. Operators list and
 * remove them.
 */

import type { z } from 'zod';
import { problems } from '#platform/problem.ts';
import type { suppressionListing, suppressionPage } from './api.ts';
import type { NotifyContext } from './context.ts';
import { addressOf } from './mail.ts';
import { findOutsideAscii, liftSuppression, listSuppressions, renameSuppression } from './suppressionstore.ts';

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
