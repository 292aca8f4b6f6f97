/** Parses lists of the CMS: omits an invalid item and retains the others (docs/specification/content.md#fields). */
import { z } from 'zod';

/** Absent and `null` mean the default. Other values are invalid, including audio, which is retired. */
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
