import type { Mail, Mailbox, Tag } from '../mail.ts';
import { addressOf, mailboxOf } from '../mail.ts';

/** Builds the message for nodemailer. All attempts of a send have the same Message-ID. */
export function messageOf(mail: Mail, id: string) {
  const { from, to, cc, bcc, replyTo, subject, html, text, headers, attachments = [], tags = [] } = mail;
  return {
    from: parsed(from),
    to: to.map(parsed),
    cc: cc.map(parsed),
    bcc: bcc.map(parsed),
    replyTo: replyTo.map(parsed),
    subject,
    html,
    text,
    headers: { ...headers, ...tagHeader(tags) },
    attachments: attachments.map(({ filename, content, contentType, contentId }) => ({
      filename,
      content,
      encoding: 'base64' as const,
      contentType,
      ...(contentId === undefined ? {} : { cid: contentId, contentDisposition: 'inline' as const }),
    })),
    messageId: `<${id}@${addressOf(from)?.split('@')[1] ?? 'localhost'}>`,
  };
}

/** nodemailer reads names with quotes, colons and semicolons differently, and would send some of them to another address. */
function parsed(text: string): Mailbox {
  return mailboxOf(text) ?? { name: '', address: text };
}

/** SMTP has no tags. Servers and filters read this header. */
function tagHeader(tags: readonly Tag[]): Record<string, string> {
  return tags.length === 0 ? {} : { 'X-Tags': tags.map(({ name, value }) => `${name}=${value}`).join(', ') };
}
