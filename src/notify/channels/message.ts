import type { Mail, Tag } from '../mail.ts';
import { addressOf } from '../mail.ts';

/** Builds the message for nodemailer. All attempts of a send have the same Message-ID. */
export function messageOf(mail: Mail, id: string) {
  const { from, to, cc, bcc, replyTo, subject, html, text, headers, attachments = [], tags = [] } = mail;
  return {
    from,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    replyTo: [...replyTo],
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

/** SMTP has no tags. Servers and filters read this header. */
function tagHeader(tags: readonly Tag[]): Record<string, string> {
  return tags.length === 0 ? {} : { 'X-Tags': tags.map(({ name, value }) => `${name}=${value}`).join(', ') };
}
