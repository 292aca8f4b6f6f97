import type { Mail, Tag } from '../mail.ts';
import { addressOf } from '../mail.ts';

/** As nodemailer takes it. The Message-ID is the same at every try of a send. */
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

/** SMTP has no tags: servers and filters read them here. */
function tagHeader(tags: readonly Tag[]): Record<string, string> {
  return tags.length === 0 ? {} : { 'X-Tags': tags.map(({ name, value }) => `${name}=${value}`).join(', ') };
}
