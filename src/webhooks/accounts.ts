import type { Tx } from '#platform/db/db.ts';
import type { Webhooks } from './publishing.ts';

/** New accounts get these credits, and the transaction that creates their profile publishes `account.created`. */
export function welcomeOf(webhooks: Webhooks | undefined, credits: number) {
  return {
    credits,
    publish: async <Tables>(tx: Tx<Tables>, profile: { readonly id: string; readonly email: string | null }) => {
      await webhooks?.publish(tx, 'account.created', { userId: profile.id, email: profile.email });
    },
  };
}
