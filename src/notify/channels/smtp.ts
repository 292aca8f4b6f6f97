/** An SMTP server. SMTP has no idempotency: if the acceptance of a mail is lost, the mail may arrive twice with the same Message-ID. */
import nodemailer from 'nodemailer';
import { toStorableLine } from '#platform/storable.ts';
import { addressOf } from '../mail.ts';
import { type Channel, ChannelFailure, type RefusedRecipient } from './channel.ts';
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
    async send(mail, { id }) {
      const { messageId, accepted, rejected, rejectedErrors } = await transport
        .sendMail(messageOf(mail, id))
        .catch((error: SmtpFault) => {
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

// Decides whether a rejection at RCPT TO is about the mailbox itself, so that no mail can ever arrive there.

/** RFC 3463: class 5, subject 1 (addressing). 7 and 8 are about the sender's address. */
const enhanced = /(?:^5\d\d[ -]|#)5\.(\d{1,3})\.(\d{1,3})(?![\d.])/;
const aboutSender = new Set(['7', '8']);

/** The codes of RFC 5321 for a missing mailbox. Each can also mean a rejection by policy. */
const mailboxCodes: ReadonlySet<number> = new Set([550, 551, 553]);

const owner = '(?:user|mailbox|recipient|account|inbox|e-?mail address|recipient address)';
const missing = new RegExp(
  [
    `\\bno such (?:\\w+ )?(?:${owner}|person|address)`,
    `\\b(?:unknown|invalid|non-?existent) (?:local |virtual )?${owner}`,
    `\\b${owner} (?:is |was |has )?(?:been )?(?:unknown|not found|not known|non-?existent)`,
    `\\b${owner}(?: \\S+){0,6} (?:does not|doesn.?t|no longer) exists?`,
    `\\b${owner} (?:has )?moved`,
    '\\bmailbox (?:is )?(?:unavailable|not available)',
    '\\bmailbox name (?:is )?(?:not allowed|invalid)',
    '\\bno mailbox (?:here )?by that name',
    '\\bnot a (?:valid|known) (?:user|mailbox|recipient)',
  ].join('|'),
  'i',
);

/** Reasons that concern the sender, the relay or a limit, and not the mailbox, even if the text also mentions one. */
const otherReason =
  /\b(?:sender|relay|polic|spam|block|black-?list|listed|reputation|denied|authenticat|spf|dkim|dmarc|helo|ehlo|verif|rate|limit|quota|full|try (?:again|later)|temporar|grey-?list|gray-?list)/i;

/** Characters of a reply that are read. */
const maxLength = 2000;

/** `code`: the code of the reply. `response`: the whole reply with its code, which may have several lines. */
export function isMailboxMissing(code: number, response: string): boolean {
  if (code < 500 || code > 599) return false;
  // An address in the text can contain any of the words.
  const words = response.slice(0, maxLength).split(/\s+/);
  const text = words.filter((word) => !/[@<]/.test(word)).join(' ');
  const [, subject, detail = ''] = enhanced.exec(text.trim()) ?? [];
  if (subject !== undefined) return subject === '1' && !aboutSender.has(detail) && !/\b(?:sender|relay)/i.test(text);
  return mailboxCodes.has(code) && missing.test(text) && !otherReason.test(text);
}
