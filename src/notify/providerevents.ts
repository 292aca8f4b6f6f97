/**
 * Events that the provider reports about mails. Bounces and complaints suppress their addresses
 * (docs/specification/notify.md#provider-events).
 */

import { transaction } from '#platform/db/db.ts';
import { toStorableLine } from '#platform/storable.ts';
import type { NotifyContext } from './context.ts';
import type { EventType, ProviderEvent } from './emailapi.ts';
import { addForeignEvent } from './eventstore.ts';
import { addressOf } from './mail.ts';
import { suppress } from './suppressionstore.ts';

const maxReasonLength = 500;

/** By the provider's name of the event. Other events are ignored. */
const known: ReadonlyMap<string, EventType> = new Map([
  ['email.delivered', 'delivered'],
  ['email.delivery_delayed', 'delivery_delayed'],
  ['email.bounced', 'bounced'],
  ['email.complained', 'complained'],
  ['email.failed', 'failed'],
  ['email.suppressed', 'suppressed'],
]);

export async function takeProviderEvent({ db, log, webhooks }: NotifyContext, event: ProviderEvent): Promise<void> {
  const type = known.get(event.type);
  if (type === undefined) return;
  // An empty reason is no information.
  const reason = event.reason ? toStorableLine(event.reason, maxReasonLength) : undefined;
  const addresses = suppressedBy(type, event);
  await transaction(db, async (tx) => {
    if (!(await addForeignEvent(tx, { sourceId: event.id, providerId: event.email_id, type, reason }))) return;
    const why = reason === undefined ? type : `${type}: ${reason}`;
    await suppress(
      tx,
      // After a complaint, mails about the account itself are still sent.
      addresses.map((address) => ({ address, reason: why, blocks: type === 'complained' ? 'product' : 'all' })),
    );
    if (type !== 'bounced' && type !== 'complained') return;
    const { email_id: emailId } = event;
    const to = event.to.flatMap((text) => addressOf(text) ?? []);
    await webhooks?.publish(tx, `mail.${type}`, { emailId, to, reason: reason ?? null, suppressed: addresses });
  });
  if (addresses.length === 0 && (type === 'bounced' || type === 'complained'))
    log.warn(
      { event: type },
      'no address is suppressed after a bounce or complaint, because it is temporary or does not name its recipient',
    );
}

/**
 * An event names all recipients of its mail. If there are several, one of them counts only if the reason names it. A
 * temporary bounce, such as a full mailbox, suppresses no address.
 */
function suppressedBy(type: EventType, { to, bounce_type: bounceType, reason = '' }: ProviderEvent): readonly string[] {
  if (type !== 'bounced' && type !== 'complained') return [];
  if (type === 'bounced' && bounceType?.toLowerCase() === 'transient') return [];
  const addresses = [...new Set(to.flatMap((text) => addressOf(text) ?? []))];
  if (addresses.length === 1) return addresses;
  const named = reason.split(/[\s<>()[\],;:"']+/).map(addressOf);
  return addresses.filter((address) => named.includes(address));
}
