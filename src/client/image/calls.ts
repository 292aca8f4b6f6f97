/** The calls of the image service. Generated from its OpenAPI document by `npm run generate`. */
import { type Access, type CallOptions, callJson } from '../calling.ts';
import { operationsOf } from '../operations.ts';
import type { EnsuredVariants, EnsureRequest, ForgetRequest, ForgottenVariants } from './api.ts';

export type ImageCalls = ReturnType<typeof imageCalls>;

export function imageCalls(access: Access) {
  return {
    ...operationsOf(access),
    /** Ensure that variants of an image exist (`POST /v1/ensure`). */
    ensureVariants: (body: EnsureRequest, options?: CallOptions): Promise<EnsuredVariants> =>
      callJson(access, { method: 'POST', path: '/v1/ensure', body, repeatable: true }, options),

    /** Delete all variants of an image (`POST /v1/forget`). */
    forgetVariants: (body: ForgetRequest, options?: CallOptions): Promise<ForgottenVariants> =>
      callJson(access, { method: 'POST', path: '/v1/forget', body, repeatable: true }, options),
  };
}
