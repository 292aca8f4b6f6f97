/** The schemas and types of the shared records (docs/specification/records.md). */
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { pageSize } from '#platform/wholenumber.ts';

export const plans = ['free', 'basic', 'basic_year', 'pro', 'pro_year', 'max', 'max_year'] as const;
export const plan = z.enum(plans);
export type Plan = z.infer<typeof plan>;

/** The largest value that the column can store, rounded down. */
export const maxCredits = 2_000_000_000;

export interface Profile {
  /** The subject of the user's tokens, in lower case. */
  readonly id: string;
  /** `null`: not known yet. */
  readonly email: string | null;
  /** One of the content languages. `null`: not known yet. */
  readonly language: string | null;
  readonly plan: Plan;
  /** Never negative. */
  readonly credits: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Since when an operator has blocked the account. `null`: it is not blocked. */
  readonly blockedAt: Date | null;
}

/** The identity provider decides which addresses are valid. Some are not in ASCII. */
const email = z
  .string()
  .max(320)
  .regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address')
  .refine(isStorableText, 'must not contain NUL or lone surrogates');

/** `PUT /v1/accounts/credits`, for `npm run credits`. */
export const creditsGrant = z.object({
  user: z.union([z.guid().toLowerCase(), email]).describe('The id or the email address.'),
  plan,
  credits: z.int().min(0).max(maxCredits),
});
export type CreditsGrant = z.infer<typeof creditsGrant>;

export const grantedProfile = z.object({ id: z.guid(), email: z.string().nullable(), plan, credits: z.int() });
export type GrantedProfile = z.infer<typeof grantedProfile>;

/** `POST /v1/accounts/seed`, for `npm run seed`. The records that exist after the call. */
export const seededAccounts = z.object({ users: z.int(), feeds: z.int() });
export type SeededAccounts = z.infer<typeof seededAccounts>;

/** `GET /v1/accounts/actions`, for `npm run audit`. */
export const actionListing = z.object({ limit: pageSize(10_000, 100) });

export const operatorActions = z.object({
  actions: z.array(
    z.object({
      at: z.iso.datetime(),
      actor: z.string(),
      action: z.string().describe('A command, or method and route.'),
      target: z.string(),
      outcome: z.string().describe('`done`, or the code of the error.'),
      requestId: z.string().nullable(),
    }),
  ),
});
