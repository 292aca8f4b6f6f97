/** The email provider's HTTP API: `POST {RESEND_BASE_URL}/emails`. */

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createClient } from '#platform/http/client.ts';
import { parseJson } from '#platform/json.ts';
import type { Attachment, Mail } from '../mail.ts';
import { type Channel, ChannelFailure } from './channel.ts';

export interface ProviderOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
}

const accepted = z.object({ id: z.string().min(1) });
const defaultWaitS = 1;
/** Longer than any attempt. A timer that is set to more than 24 days would fire at once. */
const maxWaitS = 3600;

export function openProvider({ baseUrl, apiKey }: ProviderOptions): Channel {
  const client = createClient({
    name: 'email provider',
    baseUrl,
    isInternal: false,
    timeoutMs: 8000,
    maxConnections: 128,
  });

  return {
    async send(mail, { id, signal }) {
      for (;;) {
        const answer = await client.send({
          method: 'POST',
          route: '/emails',
          headers: { authorization: `Bearer ${apiKey}`, 'idempotency-key': id },
          json: toProvider(mail),
          // The provider recognizes the id, so another attempt is the same mail.
          idempotent: true,
          signal,
        });
        if (answer.status === 429) {
          await sleep(secondsToWait(answer.headers['retry-after']) * 1000, undefined, { signal });
          continue;
        }
        const parsed = answer.status === 200 ? accepted.safeParse(answer.json()) : undefined;
        if (parsed?.success) return parsed.data.id;
        const why = parsed ? 'without an id' : reasonIn(answer.body);
        throw new ChannelFailure(`the email provider returned ${answer.status} ${why}`.trim());
      }
    },
    async check() {
      // The provider rejects a mail without recipients only after it has accepted the key. A key that can only send is sufficient.
      const headers = { authorization: `Bearer ${apiKey}` };
      const { status, body } = await client.send({ method: 'POST', route: '/emails', headers, json: {} });
      if (status === 401 || status === 403) throw new ChannelFailure(`the email provider rejects the key (${status})`);
      if (status === 429) return;
      // A web server or another API can return 200, too.
      const shape = status === 200 ? accepted : [400, 422].includes(status) ? refusal : z.never();
      if (!shape.safeParse(parseJson(body)).success)
        throw new ChannelFailure(`it returned ${status}, which is not the answer of an email provider`);
    },
    close: () => client.close(),
  };
}

const refusal = z.object({ name: z.string().optional(), message: z.string().optional() });
const maxReasonLength = 500;

/** For the log: `validation_error: The domain is not verified.` Empty if the body is not in the provider's form. */
function reasonIn(body: Buffer): string {
  const parsed = refusal.safeParse(parseJson(body));
  if (!parsed.success) return '';
  const { name, message } = parsed.data;
  return [name, message]
    .filter((text) => text !== undefined)
    .join(': ')
    .slice(0, maxReasonLength);
}

function toProvider(mail: Mail) {
  const { from, bcc, replyTo, subject, html, text, headers, attachments = [], tags = [] } = mail;
  return {
    from,
    ...recipientsFor(mail),
    subject,
    ...(html === undefined ? {} : { html }),
    ...(text === undefined ? {} : { text }),
    ...(bcc.length > 0 ? { bcc } : {}),
    ...(replyTo.length > 0 ? { reply_to: replyTo } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(attachments.length > 0 ? { attachments: attachments.map(toAttachment) } : {}),
  };
}

function toAttachment({ filename, content, contentType, contentId }: Attachment) {
  return {
    filename,
    content,
    ...(contentType === undefined ? {} : { content_type: contentType }),
    ...(contentId === undefined ? {} : { content_id: contentId }),
  };
}

/**
 * The provider requires `to`. If only copies are left because the others are suppressed, the open copies take its
 * place. Blind copies cannot, because every reader would see them; then the sender does.
 */
function recipientsFor({ from, to, cc }: Mail) {
  if (to.length === 0) return { to: cc.length > 0 ? cc : [from] };
  return cc.length > 0 ? { to, cc } : { to };
}

/** A number of seconds, or a date (RFC 9110 §10.2.3). */
function secondsToWait(header: string | string[] | undefined): number {
  const text = String(header ?? '');
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? defaultWaitS : Math.min(Math.max(seconds, 0.1), maxWaitS);
}
