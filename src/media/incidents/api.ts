/** The requests and responses of incidents (docs/specification/media.md#incidents). */
import { z } from 'zod';
import { isStorableJson } from '#platform/storable.ts';
import { pageSize } from '#platform/wholenumber.ts';
import { lineage, optional, uuid } from '../api.ts';

export const incidentStatus = z.enum(['open', 'upheld', 'cleared']);

export const decisions = ['dismiss', 'restrict', 'remove'] as const;
export type Decision = (typeof decisions)[number];

const decided = z.object({
  decision: z.enum(decisions),
  statement: z.string(),
  at: z.iso.datetime(),
});

export const incident = z.object({
  id: z.string(),
  status: incidentStatus,
  assetId: z.string().nullable().describe('`null`: a conversation.'),
  title: z
    .string()
    .nullable()
    .describe(
      'The name of the asset, or its prompt; the title of a shared conversation or album, even if it was deleted. `null`: it has none, or its owner was erased.',
    ),
  ownerId: z.string(),
  scopeKind: z.string(),
  scopeId: z.string(),
  sha256: z.string().describe('The SHA-256 of the bytes in hex. Empty: there is none.'),
  list: z.string().describe('`sha256`, `md5`, `pdq`, the list that the classifier named, its label, or `report`.'),
  label: z
    .string()
    .nullable()
    .describe('The label that a rule blocked, restricted or flagged. `null`: a list, the classifier, or reports.'),
  origin: z
    .string()
    .nullable()
    .describe(
      '`report`: people reported it. `label`: a rule flagged or restricted it. Otherwise, where the bytes remain: an asset, or `bucket/path` of a legacy file.',
    ),
  threadId: z.string().nullable().describe('A reported conversation, or `album:` and the id of a reported collection.'),
  shareId: z.string().nullable().describe('The page that was reported.'),
  isShared: z.boolean().describe('The page that was reported can be read now.'),
  isGone: z.boolean().describe('The reported or flagged asset was deleted.'),
  openAlike: z
    .int()
    .describe('The open incidents of the same bytes, and of the copies of the asset, including this one.'),
  generation: lineage.nullable().describe('The order that the asset was made from.'),
  reports: z.int().describe('The number of people who reported it.'),
  reasons: z.array(z.string()).describe('Those of the reports.'),
  ageSeconds: z.int(),
  decision: decided.nullable(),
  earlier: z.array(decided).describe('The decisions that later ones replaced, the oldest first.'),
  createdAt: z.iso.datetime(),
  resolvedAt: z.iso.datetime().nullable(),
  note: z.string().nullable(),
  evidenceUntil: z.iso
    .datetime()
    .nullable()
    .describe('Until when the blocked object is retained, encrypted. `null`: it is not retained.'),
  appeal: z
    .object({ text: z.string(), at: z.iso.datetime() })
    .optional()
    .describe('The appeal of the owner. Absent: none.'),
});
export type Incident = z.output<typeof incident>;

export const incidentListing = z.object({
  status: optional(incidentStatus),
  ownerId: optional(uuid),
  list: optional(z.string().max(200)),
  order: optional(z.enum(['newest', 'priority'])).describe('`priority`: reports of `minor` and `intimate` first.'),
  appealed: optional(z.enum(['true', 'false', 'open'])).describe(
    '`true`: only incidents with an appeal of their owner. `open`: only those whose appeal no decision has answered.',
  ),
  limit: pageSize(200, 50).describe('1 to 200. Default: 50.'),
  cursor: optional(z.string().max(200)).describe('The `next_cursor` of the previous page.'),
});
export type IncidentListing = z.output<typeof incidentListing>;

export const incidentPage = z.object({
  incidents: z.array(incident).describe('Newest first.'),
  next_cursor: z.string().nullable().describe('`null`: this was the last page.'),
});
export type IncidentPage = z.output<typeof incidentPage>;

export const incidentCounts = z.object({
  open: z.int(),
  upheld: z.int(),
  cleared: z.int(),
  openAppeals: z.int().describe('Appeals that no decision has answered.'),
  lists: z.record(z.string(), z.int()).describe('The number of incidents of each list.'),
});
export type IncidentCounts = z.output<typeof incidentCounts>;

/** What a person writes. */
export const writtenText = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .refine((text) => isStorableJson(text, 0), 'must not contain NUL or lone surrogates');

export const incidentAppeal = z.object({ text: writtenText(2000).min(1) });

export const appealedIncident = z.object({ id: z.string(), status: incidentStatus, appealedAt: z.iso.datetime() });
export type AppealedIncident = z.output<typeof appealedIncident>;

export const incidentPreview = z.object({
  sharp: optional(z.enum(['true'])).describe(
    '`true`: at most 1,024 pixels, not blurred. Reported and flagged content only.',
  ),
});

export const incidentParams = z.object({ id: uuid });

export const incidentResolution = z.object({
  resolution: z.enum(['upheld', 'cleared']).describe('`cleared`: this content passes from now on.'),
  note: optional(
    z
      .string()
      .max(2000)
      .refine((text) => isStorableJson(text, 0), 'must not contain NUL or lone surrogates'),
  ),
});
export type IncidentResolution = z.output<typeof incidentResolution>;
