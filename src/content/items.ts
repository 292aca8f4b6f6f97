/** Lists of the CMS: one item that does not fit is dropped, the rest is shown (docs/specification/content.md#fields). */
import { z } from 'zod';

/** Absent and `null` are the default; a value that is not listed does not fit, and so audio, which is retired. */
export function enumOr<const Values extends readonly [string, ...string[]]>(values: Values, otherwise: Values[number]) {
  return z
    .enum(values)
    .nullish()
    .transform((value): Values[number] => value ?? otherwise);
}

export function fitting<Item>(schema: z.ZodType<Item>, items: readonly unknown[]): Item[] {
  return items.flatMap((item) => {
    const parsed = schema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
