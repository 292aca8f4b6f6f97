/** What operators see of runs and generations: what was requested, how it went and what it cost. */
import { z } from 'zod';
import { pageSize } from '#platform/wholenumber.ts';
import { day, threadId } from '../api.ts';

const listing = {
  userId: z.guid().toLowerCase().optional().describe('Only those of this user.'),
  model: z.string().min(1).max(128).optional(),
  q: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'A part of the request, the prompt or the error; a complete id of the run, request or trace; or the start of an email address.',
    ),
  from: day.optional().describe('The first day, in UTC.'),
  to: day.optional().describe('The last day, included.'),
  limit: pageSize(100, 50),
  cursor: z.string().max(200).optional().describe('The `next_cursor` of the previous page.'),
};

const runStatus = z.enum(['queued', 'running', 'completed', 'failed', 'aborted']);
export const runListing = z.object({ ...listing, status: runStatus.optional(), threadId: threadId.optional() });
export type RunListing = z.output<typeof runListing>;

export const runRecord = z.object({
  taskId: z.string(),
  threadId: z.string(),
  userId: z.string(),
  status: runStatus,
  model: z.string(),
  answeredBy: z.string().nullable().describe('The fallback that answered.'),
  finishReason: z.string().nullable().describe('`max-steps`: stopped at AGENT_MAX_STEPS. `null`: not known.'),
  error: z.string().nullable().describe('The failure, as the user sees it.'),
  errorCode: z.string().nullable(),
  answer: z.string().nullable().describe('The failure in the words of the provider.'),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  restarts: z.int().describe('How often another process continued it.'),
  steps: z.int().nullable().describe('Calls of the model. `null`: not known.'),
  tools: z.array(z.string()).describe('The tools that were called, in order.'),
  timeline: z
    .array(
      z.object({
        tookMs: z.int().nullable().describe('The response of the model, without its tools. `null`: not measured.'),
        inputTokens: z.int().nullable(),
        outputTokens: z.int().nullable(),
        failure: z.string().nullable().describe('The failure as the user sees it, if the run failed at this step.'),
        calls: z.array(
          z.object({
            name: z.string(),
            tookMs: z.int().nullable(),
            failure: z.string().nullable().describe('As the model and the user see it.'),
            code: z.string().optional().describe('The code of the failure.'),
            answer: z.string().nullable().describe('The failure in the words of the provider.'),
          }),
        ),
      }),
    )
    .describe('The steps of a run that has ended.'),
  request: z
    .string()
    .nullable()
    .describe(
      'The first 300 characters of the message. `null`: the thread is temporary or deleted, or the message was replaced.',
    ),
  inputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  credits: z.int().nullable().describe('All that was charged, with its videos so far. `null`: it has not ended.'),
  costUsd: z.number().nullable().describe('The cost for the operator, in US dollars.'),
  requestId: z.string().nullable(),
  traceId: z.string().nullable(),
});
export type RunRecord = z.output<typeof runRecord>;

export const runPage = z.object({ runs: z.array(runRecord), next_cursor: z.string().nullable() });
export type RunPage = z.output<typeof runPage>;

export const failureRange = z.object({ from: day.describe('The first day, in UTC.') });
export const failureCounts = z.object({ failures: z.record(z.string(), z.int()).describe('User id → failed runs.') });
export type FailureCounts = z.output<typeof failureCounts>;

const generationStatus = z
  .enum(['running', 'completed', 'failed', 'canceled', 'refused'])
  .describe('`refused`: the user needed more credits or another plan.');
export const generationRecordListing = z.object({
  ...listing,
  status: generationStatus.optional(),
  kind: z.enum(['image', 'video']).optional(),
  id: z.guid().toLowerCase().optional().describe('Only this one.'),
  taskId: z.guid().toLowerCase().optional().describe('Only what this run ordered.'),
});
export type GenerationRecordListing = z.output<typeof generationRecordListing>;

const generationRecord = z.object({
  id: z.string().describe('The id of the run, if a run ordered the images.'),
  kind: z.enum(['image', 'video']),
  userId: z.string(),
  taskId: z.string().nullable().describe('The run that ordered it.'),
  prompt: z.string().nullable().describe('The first prompt. `null`: the thread is temporary or deleted.'),
  assetIds: z.array(z.string()).describe('The delivered files.'),
  ratio: z.string().nullable().describe('`null`: none was ordered.'),
  references: z.array(z.string()).describe('The files to start from. Without those of runs.'),
  model: z.string(),
  status: generationStatus,
  count: z.int().describe('Ordered images or videos.'),
  delivered: z.int(),
  credits: z.int().nullable().describe('The charged credits. `null`: it has not ended.'),
  costUsd: z.number().nullable(),
  failure: z.string().nullable().describe('The first failure, as the user sees it.'),
  failureCode: z.string().nullable(),
  answer: z.string().nullable().describe('The first failure in the words of the provider.'),
  required: z.int().nullable().describe('The price of a refused order, in credits. `null`: not refused, or not known.'),
  balance: z.int().nullable().describe('The credits of the user when it was refused. `null`: as for `required`.'),
  price: z.int().nullable().describe('In credits, of one image or video. `null`: a run ordered images.'),
  parameters: z.record(z.string(), z.unknown()).describe('The other fields of the order, such as `seed`.'),
  createdAt: z.iso.datetime(),
  orderedAt: z.iso.datetime().nullable().describe('Since when the provider may have it. `null`: not, or not known.'),
  endedAt: z.iso.datetime().nullable(),
  tookMs: z.int().nullable().describe('If a run ordered images, the time of its calls of tools. `null`: not measured.'),
  requestId: z.string().nullable(),
  traceId: z.string().nullable(),
});
export type GenerationRecord = z.output<typeof generationRecord>;

export const generationRecordPage = z.object({
  generations: z.array(generationRecord),
  next_cursor: z.string().nullable(),
});
export type GenerationRecordPage = z.output<typeof generationRecordPage>;

const mostTitles = 100;
export const titlesQuery = z.object({
  ids: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(threadId).max(mostTitles, `must be at most ${mostTitles} ids`))
    .describe('Thread ids, separated by commas; at most 100.'),
});
export const titles = z.object({
  titles: z
    .record(z.string(), z.string())
    .describe('Id → title, of the threads that exist. Temporary ones are left out.'),
});
export type Titles = z.output<typeof titles>;
