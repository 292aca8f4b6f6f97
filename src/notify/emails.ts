/** The status of accepted mails, and the cancellation of those that are not sent yet (docs/specification/notify.md#emails). */

import type { z } from 'zod';
import { type Db, transaction } from '#platform/db/db.ts';
import { findDueTimes } from '#platform/jobs/operatorstore.ts';
import { problems } from '#platform/problem.ts';
import type { NotifyContext } from './context.ts';
import type { EmailRequest, EmailStatus, EventType, email, emailList, emailListing } from './emailapi.ts';
import { listEvents, listEventsOf } from './eventstore.ts';
import { addressOf, type Mail } from './mail.ts';
import { notifyProblems } from './problems.ts';
import { cancelSend, enqueueLater, expediteSend } from './queue.ts';
import { cancelWaiting, findEmail, listSends, reopen } from './sendstore.ts';
import type { NotifyTables, SendStatus } from './tables.ts';

export function mailOf(request: EmailRequest): Mail {
  const { from, to, cc = [], bcc = [], reply_to: replyTo = [], subject, html, text, headers = {}, tags } = request;
  const attachments = request.attachments?.map(({ filename, content, content_type, content_id }) => ({
    filename,
    content,
    contentType: content_type,
    contentId: content_id,
  }));
  return {
    from,
    to: distinct(to),
    cc: distinct(cc),
    bcc: distinct(bcc),
    replyTo,
    subject,
    html,
    text,
    headers,
    attachments,
    tags,
  };
}

/** The same address in other letters is the same recipient. */
function distinct(mailboxes: readonly string[]): readonly string[] {
  const addresses = mailboxes.map((one) => addressOf(one) ?? one);
  return mailboxes.filter((_one, at) => addresses.indexOf(addresses[at] as string) === at);
}

const maxEvents = 100;

/** Throws 404 if the mail is unknown, or was sent more than 30 days ago. */
export async function showEmail({ db }: NotifyContext, id: string): Promise<z.output<typeof email>> {
  const found = await findKnown(db, id);
  const { status, subject, recipients, tags, createdAt, scheduledAt, mail, accepted, suppressed } = found;
  const events = await listEvents(db, found, maxEvents);
  const nextAttempts = await findNextAttempts(db, [found]);
  return {
    id,
    from: mail?.from ?? null,
    to: [...(recipients ?? [])],
    subject: subject ?? '',
    html: mail?.html ?? null,
    text: mail?.text ?? null,
    status: statusOf(
      status,
      events.map(({ type }) => type),
    ),
    created_at: createdAt.toISOString(),
    scheduled_at: scheduledAt?.toISOString() ?? null,
    tags: [...(tags ?? [])],
    next_attempt_at: nextAttempts(found),
    accepted: [...accepted],
    suppressed: [...suppressed],
    events: events.map(({ type, reason, createdAt: at }) => ({ type, reason, created_at: at.toISOString() })),
  };
}

/** What the provider reports of a mail that it has accepted, the worst first: it decides, because events arrive in any order. */
const fates = ['complained', 'bounced', 'delivered'] as const;

export function statusOf(status: SendStatus, events: readonly EventType[]): EmailStatus {
  if (status === 'pending' || status === 'sending' || status === 'skipped') return 'scheduled';
  if (status !== 'sent') return status;
  const fate = fates.find((one) => events.includes(one));
  // An earlier event is our own, of a previous attempt.
  const hasFailed = events.lastIndexOf('failed') > events.lastIndexOf('sent');
  return fate ?? (hasFailed ? 'failed' : 'sent');
}

/** Throws 404 if the mail is unknown, and 409 if it can no longer be canceled. */
export async function cancelEmail({ db, jobs }: NotifyContext, id: string): Promise<void> {
  const found = await findKnown(db, id);
  const isCanceled = await transaction(db, async (tx) => {
    if (!(await cancelWaiting(tx, found.id))) return false;
    await cancelSend(jobs, tx, found.id);
    return true;
  });
  if (isCanceled) return;
  const now = await findEmail(db, id);
  if (now?.status !== 'canceled') throw notifyProblems.not_cancelable();
}

/** Throws 404 if the mail is unknown, and 409 if it has ended in another way, or its text is or will soon be deleted. */
export async function retryEmail({ db, jobs }: NotifyContext, id: string): Promise<void> {
  const { id: sendId, status, mail, isTimely, failure } = await findKnown(db, id);
  if (mail === null || !isTimely || status === 'canceled') throw notifyProblems.not_retryable();
  await transaction(db, async (tx) => {
    if (await reopen(tx, sendId)) await enqueueLater(jobs, tx, sendId);
    else if (failure !== null) await expediteSend(jobs, tx, sendId);
  });
}

async function findKnown(db: Db<NotifyTables>, id: string) {
  const found = await findEmail(db, id);
  if (found === undefined) throw problems.not_found({ message: 'There is no email with this id.' });
  return found;
}

type Keyed = Pick<NonNullable<Awaited<ReturnType<typeof findEmail>>>, 'id' | 'key' | 'status'>;

/** Jobs of other services have the key of the mail, or the id in it, and send a failed mail again. */
const jobKeysOf = ({ id, key }: Keyed) => (key === null ? [id] : [id, key, ...key.split(' ').slice(1)]);

async function findNextAttempts(db: Db<NotifyTables>, sends: readonly Keyed[]) {
  const keysOf = (send: Keyed) => (send.status === 'pending' || send.status === 'failed' ? jobKeysOf(send) : []);
  const dueAt = await findDueTimes(db, sends.flatMap(keysOf));
  return (send: Keyed) => keysOf(send).flatMap((key) => dueAt.get(key)?.toISOString() ?? [])[0] ?? null;
}

/** The cursor is the id of the last mail of the previous page. */
export async function listEmails(
  { db }: { readonly db: Db<NotifyTables> },
  listing: z.output<typeof emailListing>,
): Promise<z.output<typeof emailList>> {
  // One more row than requested shows whether another page exists.
  const { limit } = listing;
  const rows = await listSends(db, listing, limit + 1);
  const page = rows.slice(0, limit);
  const [eventsOf, nextAttempts] = [await listEventsOf(db, page), await findNextAttempts(db, page)];
  return {
    object: 'list',
    has_more: rows.length > limit,
    data: page.map(({ id, status, subject, recipients, inOutbox, createdAt, scheduledAt, failure, key }) => ({
      id,
      to: [...(recipients ?? [])],
      subject: subject ?? '',
      status: statusOf(status, eventsOf.get(id) ?? []),
      in_outbox: inOutbox,
      created_at: createdAt.toISOString(),
      scheduled_at: scheduledAt?.toISOString() ?? null,
      reason: status === 'sent' ? null : failure,
      next_attempt_at: nextAttempts({ id, key, status }),
    })),
  };
}
