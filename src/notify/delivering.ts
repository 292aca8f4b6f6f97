/**
 * Tries sends, each as a job. A process may die at any point. If the channel has not accepted the mail, another worker
 * tries the same mail with the same id. If it has, the id prevents a second delivery where the other side supports
 * idempotency.
 */

import { type Tx, transaction } from '#platform/db/db.ts';
import { type Job, LeaseLost, UnrecoverableError, WorkerStopping } from '#platform/jobs/jobs.ts';
import { retry, withDeadline } from '#platform/resilience.ts';
import { toStorableLine } from '#platform/storable.ts';
import { ChannelFailure } from './channels/channel.ts';
import type { NotifyContext } from './context.ts';
import { recipientsOf, withoutRecipients } from './mail.ts';
import type { Delivered } from './outcomes.ts';
import { laterQueue, moveToLater, type SendJob, sendQueue } from './queue.ts';
import { type BegunSend, beginTry, markFailed, markSent, noteFailure } from './sendstore.ts';
import { findSuppressed, suppress } from './suppressionstore.ts';
import type { NotifyTables } from './tables.ts';

/** Within the 10 s of a response, with room for the rows around it (docs/specification/http.md#failing-engines). */
const deliveryMs = 8000;
const sendsAtOnce = 64;
const laterSendsAtOnce = 16;

/** Starts the attempts of the queues. The first attempt of an email whose caller waits is the caller's. */
export function startDelivering(deps: NotifyContext): void {
  const { db, jobs } = deps;
  const onDead = async (tx: Tx<NotifyTables>, { sendId }: SendJob, reason: string) => {
    await markFailed(tx, sendId, { failure: reason });
  };
  jobs.work<SendJob, NotifyTables>(
    sendQueue,
    // The first attempt was lost or failed, and its caller did not end the send: no caller waits for it any more.
    (job) => (job.attempt > 1 ? transaction(db, (tx) => moveToLater(jobs, tx, job)) : deliver(deps, job)),
    { concurrency: sendsAtOnce, onDead },
  );
  jobs.work<SendJob, NotifyTables>(laterQueue, (job) => deliver(deps, job), { concurrency: laterSendsAtOnce, onDead });
}

async function deliver(deps: NotifyContext, job: Job<SendJob>): Promise<void> {
  const { db } = deps;
  const { sendId } = job.payload;
  const send = await beginTry(db, sendId);
  if (send === undefined) return;
  if (send.mail === null || !send.isTimely) throw new UnrecoverableError('the email was not sent within a day');
  const { mail } = send;
  await attempt(deps, job, { mail, accepted: send.accepted, suppressed: await findSuppressed(db, mail) });
}

/** Tries an email once. For a caller that waits, the row was inserted just now. */
export async function attempt(deps: NotifyContext, job: Job<SendJob>, send: BegunSend): Promise<void> {
  const { db, outcomes } = deps;
  const { sendId } = job.payload;
  let delivered: Delivered | undefined;
  try {
    const accepted = await tryOnce(deps, job, send);
    await written(() => job.completeBy((completion) => markSent(db, sendId, accepted, completion)));
    delivered = accepted;
  } catch (error) {
    if (isInterruption(job.signal.reason) || error instanceof LeaseLost) throw error;
    if (!(error instanceof AllSuppressed)) {
      const accepted = error instanceof ChannelFailure ? error.accepted : [];
      await written(() => transaction(db, (tx) => noteFailure(tx, sendId, reasonOf(error), accepted)));
      throw error;
    }
    await transaction(db, async (tx) => {
      await markFailed(tx, sendId, { failure: error.message, suppressed: error.addresses });
      await job.complete(tx);
    });
  } finally {
    outcomes.changed(sendId, delivered);
  }
}

/** Another worker has or will get the job, so the result of this attempt must not be stored. */
const isInterruption = (reason: unknown) => reason instanceof LeaseLost || reason instanceof WorkerStopping;

const maxReasonLength = 500;

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return toStorableLine(error instanceof Error ? `${error.message}${cause}` : String(error), maxReasonLength);
}

/** No recipient is left to send the mail to. */
class AllSuppressed extends Error {
  readonly addresses: readonly string[];

  constructor(addresses: readonly string[]) {
    super('every recipient of the email is suppressed');
    this.addresses = addresses;
  }
}

async function tryOnce(deps: NotifyContext, job: Job<SendJob>, send: BegunSend): Promise<Delivered> {
  const { db, channel, onOutcome } = deps;
  try {
    const recipients = [...new Set(recipientsOf(send.mail))];
    const suppressed = recipients.filter((address) => send.suppressed.includes(address));
    const open = withoutRecipients(send.mail, [...suppressed, ...send.accepted]);
    const id = job.payload.sendId;
    if (recipientsOf(open).length === 0) {
      if (send.accepted.length === 0) throw new AllSuppressed(suppressed);
      // Earlier attempts reached every recipient that can be reached.
      onOutcome('sent');
      return { providerId: id, suppressed };
    }
    const providerId = await withDeadline(deliveryMs, (signal) => channel.send(open, { id, signal }), job.signal);
    onOutcome('sent');
    return { providerId, suppressed };
  } catch (error) {
    onOutcome(error instanceof AllSuppressed ? 'suppressed' : 'failed');
    if (error instanceof ChannelFailure)
      await written(() =>
        suppress(
          db,
          error.refused.map((one) => ({ ...one, blocks: 'all' })),
        ),
      );
    throw error;
  }
}

/** The mail is sent. A short failure of the database is no reason to send it again. */
function written<T>(write: () => Promise<T>): Promise<T> {
  const isRetryable = (error: unknown) => !(error instanceof LeaseLost);
  return retry(write, { attempts: 4, baseDelayMs: 50, maxDelayMs: 400, isRetryable });
}
