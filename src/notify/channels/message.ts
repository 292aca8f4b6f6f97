import type { Mail } from '../mail.ts';
import { addressOf } from '../mail.ts';

/** As nodemailer takes it. The Message-ID is the same at every try of a send. */
export function messageOf(mail: Mail, id: string) {
  const { from, to, cc, bcc, replyTo, subject, html, text, headers } = mail;
  return {
    from,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    replyTo: [...replyTo],
    subject,
    html,
    text,
    headers: { ...headers },
    messageId: `<${id}@${addressOf(from)?.split('@')[1] ?? 'localhost'}>`,
  };
}
