/** The header `Idempotency-Key`: requests with the same key are processed once. */
import { hash } from 'node:crypto';
import { z } from 'zod';

export const idempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x20-\x7e]{1,256}$/, 'must be 1 to 256 characters of ASCII')
    .optional(),
});

/** Equal for a repetition of a request, and different for another request under the same key. */
export const digestOf = (body: unknown): string => hash('sha256', JSON.stringify(body));
