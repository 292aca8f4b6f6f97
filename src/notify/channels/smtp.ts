/** An SMTP server. It knows no idempotency: a mail whose acceptance was lost on the way may arrive twice, under one Message-ID. */
import nodemailer from 'nodemailer';
import { addressOf } from '../mail.ts';
import { type Channel, ChannelFailure } from './channel.ts';
import { messageOf } from './message.ts';

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
      const { messageId, rejected, rejectedErrors } = await untilAborted(
        transport.sendMail(messageOf(mail, id)),
        signal,
      ).catch((error: SmtpFault) => {
        if (signal.aborted) throw signal.reason;
        throw new ChannelFailure('the SMTP server did not take the mail', {
          refused: refusedIn(error.rejectedErrors ?? [error]),
          cause: error,
        });
      });
      if (rejected.length === 0) return messageId;
      throw new ChannelFailure(`the SMTP server refused ${rejected.length} of the recipients`, {
        refused: refusedIn((rejectedErrors ?? []) as SmtpFault[]),
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

/**
 * Those whose mailbox is not there (RFC 3463: class 5, subject 1). A refusal for another reason, such as our address being
 * on a list, says nothing of the recipient.
 */
function refusedIn(faults: readonly SmtpFault[]): readonly string[] {
  return faults.flatMap(({ recipient, responseCode = 0, response = '' }) => {
    const enhanced = /\b5\.(\d{1,3})\.\d{1,3}\b/.exec(response)?.[1];
    const isGone = enhanced === undefined ? [550, 551, 553].includes(responseCode) : enhanced === '1';
    const address = recipient === undefined ? undefined : addressOf(recipient);
    return isGone && address !== undefined ? [address] : [];
  });
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', end));
}
