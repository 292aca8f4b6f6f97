/**
 * The mails about a decision, as jobs that the transaction of the decision writes: each is sent once, because the notify service
 * knows its key.
 */
import { z } from 'zod';
import type { Tx } from '#platform/db/db.ts';
import type { Job, Jobs, Queue } from '#platform/jobs/jobs.ts';
import type { MediaContext } from '../context.ts';
import type { MediaTables } from '../tables.ts';
import type { Decision } from './api.ts';

const payload = z.object({
  key: z.string(),
  type: z.enum(['content.decision', 'report.decision']),
  userId: z.string(),
  contact: z.object({ email: z.string(), locale: z.string().optional() }).nullable(),
  data: z.record(z.string(), z.unknown()),
});
type DecisionMail = z.output<typeof payload>;

/** About two days. */
export const decisionMailQueue: Queue<DecisionMail> = {
  name: 'media/decision-mail',
  payload,
  maxAttempts: 60,
  longestRetryMs: 3_600_000,
};

interface Decided {
  readonly ownerId: string;
  readonly kind: string;
  readonly decision: Decision;
  readonly statement: string;
}

interface Reporter {
  readonly id: string;
  readonly userId: string | null;
  readonly contact: string | null;
  readonly language: string | null;
}

const bareAddress = /^[^\s@<>(),;:"\\[\]]{1,64}@[^\s@<>(),;:"\\[\]]{1,255}$/;

/** One to the owner, and one to each address or account that reported it. */
export async function enqueueMails(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Tx<MediaTables>,
  { ownerId, kind, decision, statement }: Decided,
  reporters: readonly Reporter[],
  decisionId: string,
): Promise<void> {
  const data = { decision, statement, kind };
  const mails = new Map<string, DecisionMail>();
  const add = (recipient: string, mail: Omit<DecisionMail, 'key' | 'data'>) => {
    if (!mails.has(recipient)) mails.set(recipient, { ...mail, key: `${decisionId}:${recipient}`, data });
  };
  add('owner', { type: 'content.decision', userId: ownerId, contact: null });
  for (const { id, userId, contact, language } of reporters) {
    const email = contact !== null && bareAddress.test(contact) ? contact : undefined;
    if (email !== undefined)
      add(`report ${email.toLowerCase()}`, {
        type: 'report.decision',
        userId: userId ?? id,
        contact: { email, ...(language !== null && { locale: language }) },
      });
    else if (userId !== null) add(`report ${userId}`, { type: 'report.decision', userId, contact: null });
  }
  for (const mail of mails.values()) await jobs.enqueue(tx, decisionMailQueue, mail);
}

/** Throws until the notify service has accepted the mail. */
export async function sendDecisionMail({ notify, log }: MediaContext, job: Job<DecisionMail>): Promise<void> {
  const { key, type, userId, contact, data } = job.payload;
  const { status } = await notify.send({
    method: 'POST',
    route: '/notify',
    json: { type, userId, data, ...(contact !== null && { contact }) },
    headers: { 'idempotency-key': key },
    idempotent: true,
    signal: job.signal,
  });
  if (status === 200) return;
  // The address is not one, or is suppressed: another attempt would not change that.
  if (status === 400 || status === 422) return log.warn({ type, status }, 'an email about a decision was refused');
  throw new Error(`the notify service returned ${status}`);
}
