/** The last hour and the last errors, as the Overview shows them. */
import { z } from 'zod';

const values = z.array(z.number().nullable()).describe('null: not measured.');

export const history = z.object({
  startsAt: z
    .array(z.iso.datetime())
    .describe('The start of each minute, oldest first. All lists have the same length.'),
  services: z.array(
    z.object({
      service: z.string(),
      perMinute: values.describe('Requests.'),
      errorsPerMinute: values.describe('Responses with a 5xx status.'),
      p50Ms: values.describe('The median response time, without streams.'),
      p95Ms: values,
    }),
  ),
  runs: z.object({
    endedPerMinute: values,
    failedPerMinute: values,
    inputTokensPerMinute: values,
    outputTokensPerMinute: values,
    firstTokenP50Ms: values.describe('From the start of a turn to the first token of its model.'),
    firstTokenP95Ms: values,
  }),
});
export type History = z.output<typeof history>;

export const errorList = z.object({
  errors: z
    .array(
      z.object({
        service: z.string(),
        at: z.iso.datetime(),
        requestId: z.string(),
        traceUrl: z.string().nullable(),
        method: z.string(),
        route: z.string(),
        status: z.int(),
        code: z.string(),
      }),
    )
    .describe('The newest first; at most 50.'),
  unread: z.array(z.string()).describe('Services that do not respond. Their errors are unknown.'),
});
export type ErrorList = z.output<typeof errorList>;

export interface ServiceHistory {
  /** Looks at all services, and adds what they counted since the last look. */
  sample(): Promise<void>;
  read(): History;
}
