/**
 * A send: accepted as a row, then tried at once. With an `Idempotency-Key` it happens once a day however often it is asked
 * for (docs/specification/notify.md#idempotency). A process may die at any point: before the row, nothing happened; after it, `resuming.ts` or a repeat
 * goes on with the same mail under the same id; after the provider took it, that id keeps it from going out twice.
 */
import { hash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import { retry } from '#platform/resilience/retry.ts';
import type { SkipReason } from './api.ts';
import { type Channel, ChannelFailure } from './channels/channel.ts';
import { type Mail, recipientsOf, withoutRecipients } from './mail.ts';
import { notifyProblems } from './problems.ts';
import {
  type Claim,
  claimSend,
  dropSend,
  type Endpoint,
  findSend,
  findSuppressed,
  insertSend,
  markFailed,
  markSent,
  type NotifyTables,
  type StoredSend,
  suppress,
} from './store.ts';

export interface SendingDeps {
  readonly db: Db<NotifyTables>;
  readonly channel: Channel;
  readonly log: Log;
  /** Told of each try. */
  readonly onOutcome: (outcome: 'sent' | 'failed' | 'suppressed') => void;
}

export interface SendRequest {
  readonly endpoint: Endpoint;
  readonly key: string | undefined;
  /** What it was asked with: the same key with another body is a conflict. */
  readonly body: unknown;
  /** Decides whether there is anything to send; not called for a repeat of what was decided before. */
  readonly prepare: () => Promise<{ readonly mail: Mail } | { readonly skipReason: SkipReason }>;
}

export interface Delivered {
  readonly providerId: string;
  /** The recipients that the mail did not go to. */
  readonly suppressed: readonly string[];
}

export type Outcome = Delivered | { readonly skipReason: SkipReason };

/** Within the 10 s of an answer, with room for the rows around it (docs/specification/http.md#failing-engines). */
const deliveryMs = 8000;
const waitMs = 9000;
/** Longer than a delivery: until then its process is taken to be alive. */
export const claimMs = 20_000;

export async function sendOnce(deps: SendingDeps, request: SendRequest): Promise<Outcome> {
  const { endpoint, key } = request;
  const bodyDigest = hash('sha256', JSON.stringify(request.body));
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    const seen = key === undefined ? undefined : await findSend(deps.db, endpoint, key);
    if (seen === undefined) {
      const id = randomUUID();
      const content = await request.prepare();
      if (!(await insertSend(deps.db, { id, endpoint, key, bodyDigest, content }, claimMs))) continue;
      if ('skipReason' in content) return content;
      return answered(deps, { id, attempt: 1 }, content.mail);
    }
    if (seen.bodyDigest !== bodyDigest) throw notifyProblems.idempotency_conflict();
    const outcome = outcomeOf(seen) ?? (await joinSend(deps, seen));
    if (outcome !== undefined) return outcome;
    if (performance.now() > giveUpAt) throw notifyProblems.send_in_progress();
    await sleep(100);
  }
}

function outcomeOf({ providerId, skipReason, suppressed }: StoredSend): Outcome | undefined {
  if (skipReason !== null) return { skipReason };
  return providerId === null ? undefined : { providerId, suppressed: suppressed ?? [] };
}

/** Goes on with a send that nobody is at; `undefined`: somebody is. */
async function joinSend(deps: SendingDeps, seen: StoredSend): Promise<Outcome | undefined> {
  if (seen.mail === null || (seen.status === 'pending' && seen.isClaimed)) return undefined;
  const attempt = await claimSend(deps.db, seen, claimMs);
  if (attempt === undefined) return undefined;
  return answered(deps, { id: seen.id, attempt }, seen.mail);
}

/** A failure is told to the caller, and ends the send. */
async function answered(deps: SendingDeps, claim: Claim, mail: Mail): Promise<Delivered> {
  try {
    return await deliver(deps, claim, mail);
  } catch (cause) {
    if (cause instanceof AllSuppressed) {
      await settled(deps, () => dropSend(deps.db, claim));
      const message = `${notifyProblems.table.recipient_suppressed.message} Suppressed: ${cause.addresses.join(', ')}.`;
      throw notifyProblems.recipient_suppressed({ message, fields: { suppressed: cause.addresses } });
    }
    await settled(deps, () => markFailed(deps.db, claim));
    if (cause instanceof NothingToSend) throw notifyProblems.email_failed({ message: cause.message });
    throw notifyProblems.email_failed({ cause });
  }
}

class NothingToSend extends Error {}

/** Nobody is left to send the mail to. */
export class AllSuppressed extends Error {
  readonly addresses: readonly string[];

  constructor(addresses: readonly string[]) {
    super('every recipient of the mail is suppressed');
    this.addresses = addresses;
  }
}

/** One try. Throws whatever kept the mail from leaving. */
export async function deliver(deps: SendingDeps, claim: Claim, mail: Mail): Promise<Delivered> {
  const { db, channel, onOutcome } = deps;
  let delivered: Delivered;
  try {
    // docs/specification/notify.md#idempotency has it fail in the channel, with this sentence.
    if (!mail.html && !mail.text) throw new NothingToSend('Either html or text must be provided');
    const recipients = [...new Set(recipientsOf(mail))];
    const known = await findSuppressed(db, recipients);
    const suppressed = recipients.filter((address) => known.includes(address));
    const open = withoutRecipients(mail, suppressed);
    if (recipientsOf(open).length === 0) throw new AllSuppressed(suppressed);
    const providerId = await withDeadline(deliveryMs, (signal) => channel.send(open, { id: claim.id, signal }));
    delivered = { providerId, suppressed };
  } catch (error) {
    onOutcome(error instanceof AllSuppressed ? 'suppressed' : 'failed');
    if (error instanceof ChannelFailure) await settled(deps, () => suppress(db, error.refused));
    throw error;
  }
  onOutcome('sent');
  await settled(deps, () => markSent(db, claim, delivered));
  return delivered;
}

/** What has happened outside is written down if at all possible; if not, the send is taken up again under its id. */
async function settled(deps: SendingDeps, write: () => Promise<unknown>): Promise<void> {
  try {
    await retry(write, { attempts: 4, baseDelayMs: 50, maxDelayMs: 400, isRetryable: () => true });
  } catch (error) {
    deps.log.error({ err: error }, 'how a send went could not be written down');
  }
}
