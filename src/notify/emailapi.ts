/** The schemas and types of raw mails (docs/specification/notify.md#emails): the supported part of the provider's requests. */
import { z } from 'zod';
import { isStorableJson } from '#platform/storable.ts';
import { pageSize } from '#platform/wholenumber.ts';
import { addressOf, hasControls } from './mail.ts';

/** The provider's limit. */
const maxRecipients = 50;
const maxBatch = 100;
const maxListed = 50;
/** Of a line of a mail (RFC 5322 §2.1.1). */
const maxLineLength = 998;
const maxScheduleMs = 30 * 24 * 3600 * 1000;

export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value): z.output<Schema> | undefined => value ?? undefined);

const isAddress = (text: string) => addressOf(text) !== undefined;
const mailbox = z.string().refine(isAddress, 'must be an address, or `Name <address>`');
/** Creates a schema for each field, because the OpenAPI document shows a schema that is used twice only in part. */
const mailboxes = () =>
  z
    .union([mailbox.transform((one) => [one]), z.array(mailbox)])
    .refine((all) => all.length <= maxRecipients, `must be at most ${maxRecipients} addresses`);

const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !hasControls(text), 'must be one line');

/** The form in which the provider's library sends a `Buffer`. */
const bufferJson = z.object({ type: z.literal('Buffer'), data: z.array(z.number().int().min(0).max(255)) });
const base64 = z.string().transform((text, context) => {
  const compact = /\s/.test(text) ? text.replaceAll(/\s/g, '') : text;
  // A regular expression over a whole attachment would overflow the stack.
  if (Buffer.from(compact, 'base64').toString('base64') === compact) return compact;
  context.addIssue({ code: 'custom', message: 'must be base64' });
  return z.NEVER;
});

const attachment = z.object({
  filename: line(255),
  content: z.union([base64, bufferJson.transform(({ data }) => Buffer.from(data).toString('base64'))], {
    error: 'must be base64',
  }),
  content_type: optional(
    z
      .string()
      .regex(
        /^[\w.+-]{1,64}\/[\w.+-]{1,64}(?:; ?[\w-]{1,32}=[\w."-]{1,64})?$/,
        'must be a media type, such as image/png',
      ),
  ),
  content_id: optional(z.string().regex(/^[\w.@+-]{1,127}$/, 'must be letters, digits and . _ @ + -')),
  path: z
    .null({ error: 'is not supported: send the content of the file' })
    .optional()
    .describe('Files are not fetched: send their `content`.'),
});

/** Headers that have a field of their own, or that the sending server writes. */
const reserved =
  /^(?:from|to|cc|bcc|reply-to|subject|date|sender|message-id|mime-version|content-.*|return-path|received|dkim-signature)$/i;

const headers = z.record(z.string(), z.string()).superRefine((all, context) => {
  const names = Object.keys(all);
  if (names.length > maxListed) context.addIssue({ code: 'custom', message: `must be at most ${maxListed} headers` });
  for (const name of names.slice(0, maxListed)) {
    const message = headerFault(name, all[name] ?? '');
    if (message !== undefined) context.addIssue({ code: 'custom', message, path: [name.slice(0, 100)] });
  }
});

function headerFault(name: string, value: string): string | undefined {
  if (!/^[\w-]{1,76}$/.test(name)) return 'must be a header: letters, digits, - and _';
  if (reserved.test(name)) return 'cannot be set as a header';
  return hasControls(value) || value.length > maxLineLength
    ? `must be one line of at most ${maxLineLength}`
    : undefined;
}

const tagText = z.string().regex(/^[\w-]{1,256}$/, 'must be 1 to 256 ASCII letters, digits, - or _');

const scheduledAt = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with its offset, such as 2027-01-31T09:00:00Z' })
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() <= Date.now() + maxScheduleMs, 'must be within 30 days');

export const emailRequest = z
  .object({
    from: mailbox,
    to: mailboxes().refine((all) => all.length > 0, 'must name at least one address'),
    subject: line(maxLineLength),
    html: optional(z.string()),
    text: optional(z.string()),
    cc: optional(mailboxes()),
    bcc: optional(mailboxes()),
    reply_to: optional(mailboxes()),
    attachments: optional(z.array(attachment).max(maxListed)),
    headers: optional(headers),
    tags: optional(z.array(z.object({ name: tagText, value: tagText })).max(maxListed)),
    scheduled_at: optional(scheduledAt).describe('At most 30 days ahead. A time in the past means now.'),
  })
  .refine(({ to, cc = [], bcc = [] }) => to.length + cc.length + bcc.length <= maxRecipients, {
    path: ['to'],
    message: `must be at most ${maxRecipients} addresses, including copies`,
  });
export type EmailRequest = z.output<typeof emailRequest>;

export const emailAnswer = z.object({
  id: z.string().describe('The id of the provider. For a scheduled email: the id of this service.'),
  suppressed: z.array(z.string()).optional().describe('The suppressed recipients. If absent: none.'),
});

export const emailBatch = z
  .array(
    emailRequest.refine(({ html, text }) => html || text, {
      path: ['html'],
      message: 'either html or text is required',
    }),
  )
  .min(1)
  .max(maxBatch);
export const emailBatchAnswer = z.object({ data: z.array(z.object({ id: z.string() })) });

export const emailId = z.object({
  id: z
    .string()
    .min(1)
    .max(512)
    .refine((text) => !hasControls(text) && text.isWellFormed(), 'must be the id of an email'),
});

export const emailStatus = z.enum(['scheduled', 'sent', 'delivered', 'bounced', 'complained', 'failed', 'canceled']);
export type EmailStatus = z.output<typeof emailStatus>;

const eventType = z.enum([
  'sent',
  'suppressed',
  'delivery_delayed',
  'failed',
  'canceled',
  'delivered',
  'bounced',
  'complained',
]);
export type EventType = z.output<typeof eventType>;

const nextAttemptAt = z
  .string()
  .nullable()
  .describe('ISO 8601. `null`: an attempt is running, or no job of this installation tries the email again.');

export const email = z.object({
  id: z.string(),
  from: z.string().nullable().describe('`null`, as `html` and `text`: the email was sent, so its content is deleted.'),
  to: z.array(z.string()),
  subject: z.string(),
  html: z.string().nullable(),
  text: z.string().nullable(),
  status: emailStatus.describe('`scheduled`: not sent yet.'),
  created_at: z.string().describe('ISO 8601.'),
  scheduled_at: z.string().nullable().describe('ISO 8601; `null`: sent immediately.'),
  tags: z.array(z.object({ name: z.string(), value: z.string() })),
  next_attempt_at: nextAttemptAt,
  accepted: z.array(z.string()).describe('The addresses that a mail server accepted before it refused others.'),
  suppressed: z.array(z.string()).describe('The addresses of recipients that are suppressed now.'),
  events: z
    .array(
      z.object({
        type: eventType,
        created_at: z.string(),
        reason: z.string().nullable().describe('The reason that the provider or the SMTP server returned.'),
      }),
    )
    .describe('The last 100, oldest first.'),
});

export const emailListing = z.object({
  limit: pageSize(100, 20),
  after: z.guid().optional().describe('The id of the last email of the previous page.'),
  q: z
    .string()
    .max(320)
    .refine((text) => isStorableJson(text, 0), 'must not contain NUL or lone surrogates')
    .optional()
    .describe('Only emails whose subject or recipients contain this text. Ignores case.'),
  status: z
    .enum(['delayed', 'failed'])
    .optional()
    .describe(
      '`delayed`: an attempt failed, and another one follows. `failed`: none follows, and the service has not sent the email.',
    ),
});
export const emailList = z.object({
  object: z.literal('list'),
  has_more: z.boolean(),
  data: z
    .array(
      z.object({
        id: z.string(),
        to: z.array(z.string()),
        subject: z.string(),
        status: emailStatus,
        in_outbox: z
          .boolean()
          .describe('It was not sent, but stored in the outbox of an installation without a mail server.'),
        created_at: z.string().describe('ISO 8601.'),
        scheduled_at: z.string().nullable().describe('ISO 8601. `null`: the email was not scheduled.'),
        reason: z.string().nullable().describe('The reason of the last failed attempt; `null` after it was sent.'),
        next_attempt_at: nextAttemptAt,
      }),
    )
    .describe('The emails of the last 30 days, newest first.'),
});

export const changedEmail = z.object({ object: z.literal('email'), id: z.string() });

/** An event of the provider, verified by the content service. */
export const emailEvent = z.object({
  id: z.string().min(1).max(256).describe('The id of the event. A repeated event counts once.'),
  type: z.string().max(64),
  email_id: z.string().max(512),
  to: z.array(z.string().max(512)).max(maxRecipients),
  bounce_type: optional(z.string().max(64)),
  reason: optional(z.string().max(2000)),
});
export type EmailEvent = z.output<typeof emailEvent>;
