/**
 * An SMTP server. SMTP has no idempotency: if the acceptance of a mail is lost, the mail may arrive twice with the same
 * Message-ID.
 */
import nodemailer from 'nodemailer';
import { toStorableLine } from '#platform/storable.ts';
import { addressOf } from '../mail.ts';
import { type Channel, ChannelFailure, type RefusedRecipient } from './channel.ts';
import { messageOf } from './message.ts';
import { isMailboxMissing } from './refusals.ts';

export function openSmtp(url: string): Channel {
  const transport = nodemailer.createTransport({
    url,
    pool: true,
    maxConnections: 5,
    connectionTimeout: 4000,
    greetingTimeout: 4000,
    socketTimeout: 8000,
    dnsTimeout: 4000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  return {
    name: 'smtp',
    async send(mail, { id, signal }) {
      const { messageId, accepted, rejected, rejectedErrors } = await untilAborted(
        transport.sendMail(messageOf(mail, id)),
        signal,
      ).catch((error: SmtpFault) => {
        if (signal.aborted) throw signal.reason;
        throw new ChannelFailure('the SMTP server did not accept the email', {
          refused: refusedIn(error.rejectedErrors ?? [error]),
          cause: error,
        });
      });
      if (rejected.length === 0) return messageId;
      const faults = (rejectedErrors ?? []) as readonly SmtpFault[];
      throw new ChannelFailure(`the SMTP server refused ${rejected.length} of the recipients`, {
        refused: refusedIn(faults),
        accepted: accepted.flatMap((one) => addressOf(one) ?? []),
        cause: faults[0],
      });
    },
    async check() {
      await transport.verify();
    },
    close: async () => transport.close(),
  };
}

interface SmtpFault extends Error {
  readonly responseCode?: number;
  readonly response?: string;
  readonly recipient?: string;
  readonly rejectedErrors?: readonly SmtpFault[];
}

const maxReasonLength = 500;

/** The recipients whose mailbox is missing. */
function refusedIn(faults: readonly SmtpFault[]): readonly RefusedRecipient[] {
  return faults.flatMap(({ recipient, responseCode = 0, response = '' }) => {
    const address = recipient === undefined ? undefined : addressOf(recipient);
    if (address === undefined || !isMailboxMissing(responseCode, response)) return [];
    return [{ address, reason: toStorableLine(response, maxReasonLength) }];
  });
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', end));
}
