/** The requests and responses of people, for operators (docs/specification/records.md#people). */
import { z } from 'zod';
import { isStorableJson } from '#platform/storable.ts';
import { pageSize, wholeNumber } from '#platform/wholenumber.ts';
import { actionListing, maxCredits, operatorActions, plan } from '../api.ts';

const userId = z.guid().toLowerCase();
export const personParams = z.object({ userId });

export const person = z.object({
  id: z.string(),
  email: z.string().nullable(),
  language: z.string().nullable(),
  plan,
  credits: z.int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  activeAt: z.iso.datetime().nullable().describe('The last use of a session in a browser.'),
  blockedAt: z.iso.datetime().nullable().describe('Since when the account is blocked. `null`: it is not.'),
});
export type Person = z.output<typeof person>;

const mostNames = 200;
const ids = z
  .string()
  .transform((text) => text.toLowerCase().split(','))
  .pipe(z.array(z.guid('must be user ids, separated by commas')).max(mostNames, `must be at most ${mostNames} ids`))
  .describe('User ids, separated by commas; at most 200.');
export const namesQuery = z.object({ ids });

export const peopleListing = z.object({
  ids: ids.optional().describe('Only these users, in one page; separated by commas, at most 200.'),
  q: z
    .string()
    .max(320)
    .optional()
    .describe(
      'An id, or a part of an email address. Addresses that begin with it come first; other parts are found among the newest 100,000 users. Without it: the newest.',
    ),
  plan: plan.optional().describe('Only users with this plan.'),
  status: z.enum(['active', 'blocked']).optional().describe('Only users whose account is blocked, or is not.'),
  order: z
    .enum(['newest', 'oldest', 'credits'])
    .default('newest')
    .describe('`credits`: the highest balance first. Only without `q`.'),
  limit: pageSize(100, 50),
  cursor: z.string().max(200).optional().describe('The `next_cursor` of the previous page; only without `q`.'),
});
export type PeopleListing = z.output<typeof peopleListing>;

export const peoplePage = z.object({
  people: z.array(person),
  next_cursor: z.string().nullable().describe('`null`: this was the last page.'),
});
export type PeoplePage = z.output<typeof peoplePage>;

export const names = z.object({
  names: z.record(z.string(), z.string().nullable()).describe('Id → email address, of the users that exist.'),
});
export type Names = z.output<typeof names>;

export const creditChange = z.object({
  id: z.string(),
  actor: z.string(),
  reason: z.string(),
  planBefore: z.string(),
  planAfter: z.string(),
  creditsBefore: z.int(),
  creditsAfter: z.int(),
  createdAt: z.iso.datetime(),
});
export type CreditChange = z.output<typeof creditChange>;

const action = z.object({
  at: z.iso.datetime(),
  actor: z.string(),
  action: z.string(),
  outcome: z.string(),
});

export const personDetails = z.object({
  person,
  settings: z.object({ isOpenNotification: z.boolean() }),
  invitedBy: z.string().nullable(),
  invited: z.int().describe('The number of users that this user has invited.'),
  sessionsEndedAt: z.iso.datetime().nullable(),
  block: z.object({ actor: z.string(), reason: z.string() }).nullable().describe('`null`: the account is not blocked.'),
  sessions: z
    .array(z.object({ browser: z.string(), createdAt: z.iso.datetime(), usedAt: z.iso.datetime() }))
    .describe('The last used first; at most 50.'),
  changes: z.array(creditChange).describe('Changes of plan and credits by operators, newest first; at most 50.'),
  actions: z.array(action).describe('Actions of operators on this person, newest first; at most 50.'),
});
export type PersonDetails = z.output<typeof personDetails>;

const filter = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .refine((text) => isStorableJson(text, 0), 'must not contain NUL or lone surrogates')
    .optional();

export const actionSearch = actionListing.extend({
  cursor: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().describe('The `next_cursor` of the previous page.'),
  userId: userId.optional().describe('Only actions on this user.'),
  actor: filter(64).describe('Only actions of this operator. Ignores case.'),
  from: z.iso.date().optional().describe('The first day, in UTC.'),
  to: z.iso.date().optional().describe('The last day, included.'),
  action: filter(100).describe('Only actions that contain this text. Ignores case.'),
  target: filter(200).describe('Only actions on this target, such as `incident <id>`.'),
});
export type ActionSearch = z.output<typeof actionSearch>;

export const actionPage = z.object({
  actions: z.array(
    operatorActions.shape.actions.element.extend({
      userId: z
        .string()
        .nullable()
        .describe(
          'The user, if an operator changed their credits around that time, or if they are among the 100 newest.',
        ),
      change: creditChange.nullable().describe('The change of plan or credits that the action made.'),
      reason: z.string().nullable().describe('Why the action blocked the account.'),
    }),
  ),
  next_cursor: z
    .string()
    .nullable()
    .describe(
      '`null`: this was the last page. A page searches 20,000 actions, so it can be empty although later pages have matches.',
    ),
});
export type ActionPage = z.output<typeof actionPage>;

const reason = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine((text) => isStorableJson(text, 0), 'must not contain NUL or lone surrogates');

export const blockOrder = z.strictObject({ reason: reason.describe('Operators see it, and the user does not.') });

export const creditsChange = z
  .object({
    changeId: userId.describe('Chosen by the caller. Repeating a request with the same id changes nothing.'),
    plan: plan.optional(),
    credits: z.int().min(-maxCredits).max(maxCredits).default(0).describe('Added to the balance; may be negative.'),
    reason,
  })
  .refine(({ plan: chosen, credits }) => chosen !== undefined || credits !== 0, {
    path: ['credits'],
    message: 'must not be 0 without a plan',
  });
export type CreditsChange = z.output<typeof creditsChange>;

/** What was erased from the shared records. */
export interface Erased {
  readonly removed: Readonly<Record<string, number>>;
  readonly pending: number;
  readonly provider: 'removed' | 'not_configured';
}

export const erasureReport = z.object({
  steps: z.array(
    z.object({
      service: z.enum(['agent', 'media', 'memory', 'notify', 'auth']),
      status: z.enum(['done', 'failed', 'waiting']).describe('`waiting`: another service has to finish first.'),
      removed: z.record(z.string(), z.int()).describe('The number of removed records of each kind.'),
      message: z.string().nullable().describe('The reason of the failure.'),
    }),
  ),
  isComplete: z.boolean(),
  pendingJobs: z.int().describe('Jobs that still contain the id of the person. They end within minutes.'),
  provider: z
    .enum(['removed', 'not_configured'])
    .nullable()
    .describe('`not_configured`: delete the account at the identity provider yourself.'),
});
export type ErasureReport = z.output<typeof erasureReport>;
