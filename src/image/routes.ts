import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { isSafeKey } from '#platform/objects/objects.ts';
import type { VariantSource } from './engine/sources.ts';
import {
  formats,
  longestRequestedSide,
  resamplings,
  resizingTypes,
  strongestBlur,
  toTransform,
} from './engine/specs.ts';
import type { VariantMaker } from './engine/variants.ts';
import { asProblem } from './problems.ts';

// The schemas and types of the image service (docs/specification/image.md).

/** In the bucket of the originals, or anywhere on the internet. */
type SourceName = { readonly key: string } | { readonly url: string };

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
export const ensuredVariants = z.object({
  variants: z.record(z.string(), z.string()),
  overBudget: z.array(z.string()).optional(),
});

export const forgetRequest = z.strictObject({ source });
export const forgottenVariants = z.object({ forgotten: z.int() });

type EnsureRequest = z.infer<typeof ensureRequest>;
type EnsureResponse = z.infer<typeof ensuredVariants>;

const key = 'u/5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21/thread/thread-1/0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11.jpg';

interface ImageContext {
  readonly variants: VariantMaker;
  readonly openSource: (source: SourceName) => VariantSource;
  /** The base URL of the public bucket, without a trailing slash. */
  readonly publicUrl: string;
}

export function addRoutes(app: HttpServer, access: Access, deps: ImageContext): void {
  const routes = routesOf(app, 'image');

  routes.post('/v1/ensure', access.internalOnly, {
    id: 'ensureVariants',
    summary: 'Ensure that variants of an image exist',
    description:
      'Generates and stores the variants that do not exist yet, and returns the URL of each. The URL of a variant never changes. `overBudget` lists variants that exceed `maxBytes` at the lowest quality.',
    problems: [
      'source_url_forbidden',
      'unsupported_image',
      'undecodable_image',
      'image_too_large',
      'source_unavailable',
      'variant_store_failed',
      'processing_timeout',
    ],
    example: { source: { key }, specs: [{ name: 'card', width: 640, format: 'webp' }] },
    client: { repeatable: true },
    body: ensureRequest,
    response: { 200: ensuredVariants },
    handler: (request) => withProblems(ensureVariants(deps, request.body)),
  });

  routes.post('/v1/forget', access.internalOnly, {
    id: 'forgetVariants',
    summary: 'Delete all variants of an image',
    description: 'Deletes all stored variants of a source and returns their number.',
    problems: ['source_url_forbidden', 'variant_store_failed'],
    example: { source: { key } },
    client: { repeatable: true },
    body: forgetRequest,
    response: { 200: forgottenVariants },
    handler: async (request) => ({
      forgotten: await withProblems(deps.variants.forgetAll([deps.openSource(request.body.source)])),
    }),
  });
}

async function ensureVariants(deps: ImageContext, { source, specs }: EnsureRequest): Promise<EnsureResponse> {
  const requested = specs.map((spec) => ({ name: spec.name, transform: toTransform(spec) }));
  const variants = await deps.variants.ensure(deps.openSource(source), requested);
  const overBudget = variants.filter((variant) => variant.overBudget).map(({ name }) => name);
  return {
    variants: Object.fromEntries(variants.map(({ name, key }) => [name, `${deps.publicUrl}/${key}`])),
    ...(overBudget.length > 0 ? { overBudget } : {}),
  };
}

function withProblems<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    throw asProblem(error);
  });
}
