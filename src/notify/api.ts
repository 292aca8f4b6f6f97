/** The vocabulary of the notification service (docs/specification/notify.md#notify-endpoints). */
import { z } from 'zod';
import { isUuid } from '#platform/ids.ts';
import { addressOf, hasControls } from './mail.ts';

/** As large as the provider takes. */
const maxRecipients = 50;
/** Of a line of a mail (RFC 5322 §2.1.1). */
const maxSubjectLength = 998;

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value): z.output<Schema> | undefined => value ?? undefined);

const isAddress = (text: string) => addressOf(text) !== undefined;
const mailbox = z.string().refine(isAddress, 'must be an address, or `Name <address>`');
/** Made anew for each field: of one that is used twice the OpenAPI document tells half. */
const mailboxes = () =>
  z
    .union([mailbox.transform((one) => [one]), z.array(mailbox)])
    .refine((all) => all.length <= maxRecipients, `must be at most ${maxRecipients} addresses`);

export const notifyRequest = z.object({
  // That they are there is judged by the route: docs/specification/notify.md#notify-endpoints has the sentence.
  type: optional(z.string().max(128)),
  userId: optional(z.string().refine((id) => id === '' || isUuid(id), 'must be a UUID')),
  data: optional(z.record(z.string(), z.unknown())).describe('Not used so far.'),
  contact: optional(
    z.object({
      email: optional(z.string().refine((text) => text === '' || isBare(text), 'must be an email address')),
      locale: optional(z.string().max(64)),
    }),
  ).describe('With an email address the user is not looked up.'),
});
export type NotifyRequest = z.output<typeof notifyRequest>;

function isBare(text: string): boolean {
  return isAddress(text) && !text.includes('<');
}

const deliveryResult = z.object({ channel: z.literal('email'), providerId: z.string() });
const skipReason = z.enum(['disabled_by_user', 'plan_gate', 'user_not_found']);
export type SkipReason = z.output<typeof skipReason>;

export const notifyAnswer = z.union([
  z.object({ delivered: z.array(deliveryResult) }),
  z.object({ skipped: z.literal(true), reason: skipReason }),
]);
export type NotifyAnswer = z.output<typeof notifyAnswer>;

export const emailRequest = z
  .object({
    from: mailbox,
    to: mailboxes().refine((all) => all.length > 0, 'must name somebody'),
    subject: z
      .string()
      .min(1)
      .max(maxSubjectLength)
      .refine((text) => !hasControls(text), 'must be one line'),
    html: optional(z.string()),
    text: optional(z.string()),
    cc: optional(mailboxes()),
    bcc: optional(mailboxes()),
    reply_to: optional(mailboxes()),
  })
  .refine(({ to, cc = [], bcc = [] }) => to.length + cc.length + bcc.length <= maxRecipients, {
    path: ['to'],
    message: `must be at most ${maxRecipients} addresses, copies included`,
  });
export type EmailRequest = z.output<typeof emailRequest>;

export const emailAnswer = z.object({
  id: z.string().describe('The provider’s.'),
  suppressed: z.array(z.string()).optional().describe('The recipients that the mail did not go to; absent: none.'),
});

export const suppressionListing = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z
    .string()
    .max(512)
    .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must be a next_cursor')
    .optional()
    .describe('`next_cursor` of the page before.'),
});

export const suppressionPage = z.object({
  suppressions: z.array(
    z.object({
      address: z.string(),
      reason: z.string().describe('What its server said.'),
      since: z.string().describe('ISO 8601.'),
    }),
  ),
  next_cursor: z.string().nullable().describe('`null`: this is the last page.'),
});

export const suppressedAddress = z.object({
  address: z
    .string()
    .refine(isBare, 'must be an email address')
    .transform((text) => addressOf(text) ?? text),
});

/** Of the header `Idempotency-Key`: what the provider takes. */
export const idempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x20-\x7e]{1,256}$/, 'must be 1 to 256 characters of ASCII')
    .optional(),
});
