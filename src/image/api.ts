/** The schemas and types of the image service (docs/specification/image.md). */
import { z } from 'zod';
import { isSafeKey } from '#platform/objects/keys.ts';
import { formats, longestRequestedSide, resamplings, resizingTypes, strongestBlur } from './engine/specs.ts';

/** In the bucket of the originals, or anywhere on the internet. */
export type SourceName = { readonly key: string } | { readonly url: string };

const source = z
  .object({
    key: z.string().refine(isSafeKey, 'must be an object key').nullish(),
    url: z.string().refine(URL.canParse, 'must be a URL').nullish(),
  })
  .transform(({ key, url }, context): SourceName => {
    if (typeof key === 'string' && typeof url !== 'string') return { key };
    if (typeof url === 'string' && typeof key !== 'string') return { url };
    context.addIssue({ code: 'custom', message: 'must have exactly one of key and url' });
    return z.NEVER;
  });

const side = z.int().min(0).max(longestRequestedSide).nullish();

const spec = z.object({
  name: z.string().min(1),
  width: side,
  height: side,
  quality: z.int().min(1).max(100).nullish(),
  format: z.enum(formats).nullish(),
  resizingType: z.enum(resizingTypes).nullish(),
  enlarge: z.boolean().nullish(),
  blur: z.number().min(0).max(strongestBlur).nullish(),
  maxBytes: z.int().min(1).nullish(),
  resampling: z.enum(resamplings).nullish(),
});

const specs = z
  .array(spec)
  .min(1)
  .max(32)
  .superRefine((list, context) => {
    const seen = new Set<string>();
    for (const [index, { name }] of list.entries()) {
      if (seen.has(name)) context.addIssue({ code: 'custom', path: [index, 'name'], message: 'must be unique' });
      seen.add(name);
    }
  });

export const ensureRequest = z.object({ source, specs });
export const ensureResponse = z.object({
  variants: z.record(z.string(), z.string()),
  overBudget: z.array(z.string()).optional(),
});

export const forgetRequest = z.strictObject({ source });
export const forgetResponse = z.object({ forgotten: z.int() });

export type EnsureRequest = z.infer<typeof ensureRequest>;
export type EnsureResponse = z.infer<typeof ensureResponse>;
