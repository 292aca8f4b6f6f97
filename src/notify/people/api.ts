/** The requests and responses about the mails of a person, for operators (docs/specification/notify.md#people). */
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { pageSize } from '#platform/wholenumber.ts';
import { addressOf } from '../mail.ts';

/** The identity provider may accept addresses to which no mail can be sent. */
const address = z
  .string()
  .min(1)
  .max(320)
  .refine(isStorableText, 'must not contain NUL or lone surrogates')
  .transform((text) => addressOf(text) ?? text.toLowerCase())
  .meta({ type: 'string', format: 'email' });

export const mailsQuery = z.object({
  address,
  limit: pageSize(100, 20),
});

export const mailsOfPerson = z.object({
  mails: z
    .array(
      z.object({
        id: z.string(),
        subject: z.string(),
        status: z.string(),
        createdAt: z.iso.datetime(),
      }),
    )
    .describe('Newest first.'),
  suppression: z.object({ reason: z.string(), since: z.iso.datetime() }).nullable(),
});
export type MailsOfPerson = z.output<typeof mailsOfPerson>;

export const erasure = z.strictObject({ userId: z.guid().toLowerCase(), address: address.nullish() });
export type Erasure = z.output<typeof erasure>;

export const erased = z.object({
  removed: z.record(z.string(), z.int()).describe('The number of removed records of each kind.'),
});
export type Erased = z.output<typeof erased>;
