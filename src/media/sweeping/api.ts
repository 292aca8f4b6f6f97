/** The requests and results of sweeps, for `POST /v1/sweep` and `npm run sweep`. */
import { z } from 'zod';
import { isUuid } from '#platform/ids.ts';
import { isBucketName, isSafeKey } from '#platform/objects/objects.ts';

/** The parts of a sweep, in this order. */
export const sweepParts = ['registrations', 'uploads', 'resumable', 'evidence', 'trash', 'assets', 'variants'] as const;

const isAfter: Readonly<Record<(typeof sweepParts)[number], (text: string) => boolean>> = {
  registrations: isUuid,
  uploads: isSafeKey,
  // A position of the object store, which the store parses.
  resumable: () => true,
  evidence: isSafeKey,
  trash: isUuid,
  assets: isUuid,
  variants: (text) => readStep(text) !== undefined,
};

/** `<part>:<last item>`: ids of assets, keys of objects, positions in the object store, steps. */
export const sweepCursor = z.string().transform((text, context) => {
  const colon = text.indexOf(':');
  const part = sweepParts.find((each) => each === text.slice(0, Math.max(0, colon)));
  const after = text.slice(colon + 1);
  if (part !== undefined && (after === '' || isAfter[part](after))) return { part, after: after || undefined };
  context.addIssue({ code: 'custom', message: 'must be the cursor of a sweep response' });
  return z.NEVER;
});

export const sweepRequest = z.strictObject({
  apply: z.boolean().nullish().describe('If absent, nothing is changed.'),
  acceptLostBuckets: z
    .boolean()
    .nullish()
    .describe(
      'Also removes what depends on a bucket that has none of the objects that its rows name. If absent, it stays: the ' +
        'bucket may be the wrong one, or not be mounted.',
    ),
  cursor: sweepCursor.nullish().describe('The cursor of the previous response. If absent: the first page.'),
});
export type SweepRequest = z.output<typeof sweepRequest>;

const sweepFinding = z.object({
  what: z.enum([
    'unfinished_registration',
    'unregistered_upload',
    'unfinished_upload',
    'watermark_without_source',
    'rendition_without_source',
    'asset_without_object',
    'asset_with_other_bytes',
    'variant_without_source',
    'evidence_without_incident',
    'expired_trash',
  ]),
  fate: z.enum(['found', 'removed', 'left']),
  key: z.string(),
  assetId: z.string().optional(),
  byteSize: z.int().optional(),
  why: z.string().optional(),
});
export type SweepFinding = z.output<typeof sweepFinding>;

export const swept = z.object({
  found: z.array(sweepFinding),
  cursor: z.string().nullable().describe('The cursor of the next page; `null`: this is the last page.'),
});
export type Swept = z.output<typeof swept>;

// The position of a sweep of variants, as in its cursor: `<sweep>/<name>/<bucket>/<last item>`.

const steps = ['index', 'diff', 'verify'] as const;

export interface Step {
  readonly sweepId: string;
  readonly name: (typeof steps)[number];
  /** Of sources. Empty while variants are indexed. */
  readonly bucket: string;
  readonly after: string | undefined;
}

/** `undefined`: not the position of a sweep. */
export function readStep(text: string): Step | undefined {
  const [sweepId = '', step, bucket = '', ...rest] = text.split('/');
  const name = steps.find((each) => each === step);
  const after = rest.join('/') || undefined;
  if (name === undefined || !isUuid(sweepId) || (after !== undefined && !isSafeKey(after))) return undefined;
  return (name === 'index' ? bucket === '' : isBucketName(bucket)) ? { sweepId, name, bucket, after } : undefined;
}

export function writeStep({ sweepId, name, bucket, after = '' }: Step): string {
  return [sweepId, name, bucket, after].join('/');
}
