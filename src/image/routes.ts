import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import {
  type EnsureRequest,
  type EnsureResponse,
  ensureRequest,
  ensureResponse,
  forgetRequest,
  forgetResponse,
  type SourceName,
} from './api.ts';
import type { VariantSource } from './engine/sources.ts';
import { toTransform } from './engine/specs.ts';
import type { VariantMaker } from './engine/variants.ts';
import { asProblem } from './problems.ts';

export interface RoutesDeps {
  readonly variants: VariantMaker;
  readonly openSource: (source: SourceName) => VariantSource;
  /** The base URL of the public bucket, without a trailing slash. */
  readonly publicUrl: string;
}

export function addRoutes(app: HttpServer, access: Access, deps: RoutesDeps): void {
  const routes = routesOf(app, 'image');

  routes.post(
    '/v1/ensure',
    access.internalOnly,
    { summary: 'Ensure that variants of an image exist', body: ensureRequest, response: { 200: ensureResponse } },
    (request) => withProblems(ensureVariants(deps, request.body)),
  );

  routes.post(
    '/v1/forget',
    access.internalOnly,
    { summary: 'Delete all variants of an image', body: forgetRequest, response: { 200: forgetResponse } },
    async (request) => ({ forgotten: await withProblems(deps.variants.forget(deps.openSource(request.body.source))) }),
  );
}

async function ensureVariants(deps: RoutesDeps, { source, specs }: EnsureRequest): Promise<EnsureResponse> {
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
