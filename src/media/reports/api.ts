/** Reports of people and the decisions about them (docs/specification/media.md#reports). */
import { z } from 'zod';
import { pageSize } from '#platform/wholenumber.ts';
import { optional, ownerId, uuid } from '../api.ts';
import { decisions, incident, writtenText } from '../incidents/api.ts';
import { shareParams } from '../shares/api.ts';

export const reportReasons = [
  'illegal',
  'minor',
  'intimate',
  'violence',
  'harassment',
  'copyright',
  'privacy',
  'spam',
  'other',
] as const;

export const reportRequest = z
  .object({
    assetId: optional(uuid).describe('The reported asset. Either this or `shareId`.'),
    shareId: optional(shareParams.shape.id).describe('The reported page. Needs no account.'),
    reason: z.enum(reportReasons),
    note: optional(writtenText(2000)),
    contact: optional(writtenText(320)).describe('An email address for the decision. Default: that of the account.'),
    locale: optional(z.string().max(64)).describe('The language of the decision. Default: that of the account.'),
    address: optional(z.string().max(64)).describe(
      'The address of the person. With X-Internal-Key only: the edge sends it.',
    ),
  })
  .refine(({ assetId, shareId }) => (assetId == null) !== (shareId == null), {
    path: ['assetId'],
    message: 'is required if there is no shareId, and both must not be set',
  });
export type ReportRequest = z.output<typeof reportRequest>;

export const reported = z.object({ id: z.string() });

export const report = z.object({
  id: z.string(),
  reason: z.enum(reportReasons),
  note: z.string().nullable(),
  contact: z.string().nullable(),
  userId: z.string().nullable().describe('`null`: without an account.'),
  createdAt: z.iso.datetime(),
});

export const reportPage = z.object({ reports: z.array(report).describe('Oldest first, at most 1,000.') });
export type ReportPage = z.output<typeof reportPage>;

export const ownReportListing = z.object({
  ownerId,
  limit: pageSize(200, 50).describe('1 to 200. Default: 50.'),
  cursor: optional(uuid).describe('The `nextCursor` of the previous page.'),
});
export type OwnReportListing = z.output<typeof ownReportListing>;

export const ownReportPage = z.object({
  reports: z
    .array(
      report
        .omit({ userId: true })
        .extend({ assetId: z.string().nullable().describe('The reported asset. `null`: a conversation.') }),
    )
    .describe('In the order of their ids.'),
  nextCursor: z.string().nullable().describe('`null`: this was the last page.'),
});
export type OwnReportPage = z.output<typeof ownReportPage>;

export const incidentOrder = z.strictObject({ assetId: uuid });

const place = incident.pick({ ownerId: true, scopeKind: true, scopeId: true, sha256: true, title: true }).extend({
  assetId: z.string(),
  isCopy: z.boolean().describe('It is the asset, or a copy by the same owner, so that a decision applies to it.'),
  isRestricted: z.boolean(),
  shareIds: z.array(z.string()).describe('The pages that show it: its own, and those of albums and conversations.'),
  hiddenPages: z.int().describe('Such pages that a decision hides.'),
});

export const contentPlaces = z.object({
  places: z.array(place).describe('The assets of the same content or bytes. Published ones first, at most 100.'),
  incidents: z.array(incident).describe('Those about the same content or bytes, newest first, at most 100.'),
});
export type ContentPlaces = z.output<typeof contentPlaces>;

/** What operators decided about content of the caller. */
export const ownDecisions = z.object({
  decisions: z
    .array(
      z.object({
        id: z.string().describe('The id of the incident, for an appeal.'),
        assetId: z.string().nullable().describe('`null`: a conversation.'),
        kind: z.string(),
        decision: z.enum(decisions),
        statement: z.string(),
        at: z.iso.datetime(),
        appealedAt: z.iso.datetime().nullable(),
        isAppealOpen: z.boolean().describe('No decision has answered the appeal.'),
      }),
    )
    .describe('Newest first, at most 100.'),
});
export type OwnDecisions = z.output<typeof ownDecisions>;

export const decisionRequest = z.object({
  decision: z
    .enum(decisions)
    .describe(
      '`dismiss`: the content stays, and a restriction ends. `restrict`: only its owner can read it. `remove`: it is deleted.',
    ),
  statement: writtenText(5000)
    .min(1)
    .describe('The reasons. The owner and the people who reported the content get them by email.'),
  mailOwner: optional(z.boolean()).describe('`false`: the owner gets no email. Default: `true`.'),
});
export type DecisionRequest = z.output<typeof decisionRequest>;
