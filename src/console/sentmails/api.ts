/** Queries of the Mail page. The notification service defines the responses. */
import { z } from 'zod';
import { parseJson } from '#platform/json.ts';
import { pageSize } from '#platform/wholenumber.ts';

export const previewPath = z.object({ type: z.string().min(1).max(128) });
export const previewQuery = z.object({
  locale: z.string().max(64).optional(),
  data: z
    .string()
    .max(8000)
    .default('')
    .transform((text) => parseJson(text || '{}'))
    .pipe(z.record(z.string(), z.unknown(), 'must be a JSON object'))
    .describe('A JSON object: the values for the texts.'),
});
export type PreviewQuery = z.output<typeof previewQuery>;

export const sentMailQuery = z.object({
  limit: pageSize(50, 50),
  after: z.string().min(1).max(512).optional(),
  q: z.string().max(320).optional().describe('A part of the subject or of a recipient.'),
  status: z.enum(['delayed', 'failed']).optional(),
});
export const sentMailPath = z.object({ id: z.string().min(1).max(512) });
export const suppressionQuery = z.object({ limit: pageSize(50, 50), cursor: z.string().min(1).max(512).optional() });
export const suppressionPath = z.object({ address: z.string().min(1).max(512) });
