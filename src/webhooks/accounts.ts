import type { Tx } from '#platform/db/db.ts';
import type { Webhooks } from './publishing.ts';

/** Publishes `account.created` in the transaction that creates a profile. */
export function publishAccount(webhooks: Webhooks | undefined) {
  return async <Tables>(tx: Tx<Tables>, profile: { readonly id: string; readonly email: string | null }) => {
    await webhooks?.publish(tx, 'account.created', { userId: profile.id, email: profile.email });
  };
}
