/** The schemas and types of the notification service (docs/specification/notify.md#notify-endpoints). */
import { z } from 'zod';
import { contentLanguages } from '#platform/language.ts';
import { pageSize } from '#platform/wholenumber.ts';
import { optional } from './emailapi.ts';
import { addressOf } from './mail.ts';

export const notifyRequest = z.object({
  // The route checks both, because docs/specification/notify.md#notify fixes the messages and their order.
  type: optional(z.string()),
  userId: optional(z.string()).describe('A UUID.'),
  data: optional(z.record(z.string(), z.unknown())).describe('For the texts of the type.'),
  contact: optional(
    z.object({
      email: optional(z.string().refine((text) => text === '' || isBare(text), 'must be an email address')),
      locale: optional(z.string().max(64)),
    }),
  ).describe('With an email address, the service does not look up the user.'),
});
export type NotifyRequest = z.output<typeof notifyRequest>;

function isBare(text: string): boolean {
  return addressOf(text) !== undefined && !text.includes('<');
}

const deliveryResult = z.object({ channel: z.literal('email'), providerId: z.string() });
const skipReason = z.enum(['disabled_by_user', 'plan_gate', 'user_not_found', 'suppressed']);
export type SkipReason = z.output<typeof skipReason>;

export const notifyAnswer = z.union([
  z.object({ delivered: z.array(deliveryResult) }),
  z.object({ skipped: z.literal(true), reason: skipReason }),
]);
export type NotifyAnswer = z.output<typeof notifyAnswer>;

export const suppressionListing = z.object({
  limit: pageSize(200, 50),
  cursor: z
    .string()
    .max(512)
    .regex(/^[^\p{Cc}\p{Cs}@]+@[^\p{Cc}\p{Cs}@]+$/u, 'must be a next_cursor')
    .optional()
    .describe('The `next_cursor` of the previous page.'),
});

/** The mails that a suppression blocks. `product`: those about the account itself are still sent. */
export type SuppressionReach = 'all' | 'product';

export const suppressionPage = z.object({
  suppressions: z.array(
    z.object({
      address: z.string(),
      reason: z.string().describe('The reason that its server returned.'),
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

export const notificationTypes = z.object({
  types: z.array(
    z.object({
      type: z.string(),
      audience: z.enum(['account', 'product']).describe('`product`: users can turn it off and unsubscribe.'),
      locales: z.array(z.enum(contentLanguages)),
    }),
  ),
});

export const typeName = z.object({ type: z.string().min(1) });

export const previewRequest = z.object({
  locale: optional(z.string().max(64)).describe('Default: `en`.'),
  data: optional(z.record(z.string(), z.unknown())).describe('As in `POST /notify`.'),
});

export const preview = z.object({ subject: z.string(), html: z.string(), text: z.string() });
