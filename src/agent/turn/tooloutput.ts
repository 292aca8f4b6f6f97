/** The outputs of our tools: an expected failure is an output with a code, so that clients can show it. */
import { z } from 'zod';

const failed = z.object({ status: z.literal('failed'), failure: z.object({ code: z.string() }).optional() });

/** The code of the failure; `undefined` if the output reports none. */
export function failureOf(output: unknown): string | undefined {
  const parsed = failed.safeParse(output);
  return parsed.success ? (parsed.data.failure?.code ?? 'failed') : undefined;
}
