/** The mails about a decision, as jobs that the transaction of the decision writes. */
import { mailQueueOf, type QueuedMail } from '#accounts/mailing.ts';
import type { Tx } from '#platform/db/db.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { MediaTables } from '../tables.ts';
import type { Decision } from './api.ts';

export const decisionMailQueue = mailQueueOf('media/decision-mail');

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
  const mails = new Map<string, QueuedMail>();
  const add = (recipient: string, mail: Omit<QueuedMail, 'key' | 'data'>) => {
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
